export const CommandIDs = {
  openPanel: 'cowork:open-panel',
  newConversation: 'cowork:new-conversation',
  showInbox: 'cowork:show-inbox',
  planChange: 'cowork:plan-change',
  insertPlan: 'cowork:insert-plan',
  insertAct: 'cowork:insert-act',
  insertAsk: 'cowork:insert-ask',
  chooseRole: 'cowork:choose-role',
  /** For role menus; they need `{role}`, so they are not in the palette. */
  setRole: 'cowork:set-role',
  switchRole: 'cowork:switch-role',
  checkConnection: 'cowork:check-connection',
  /** Needs `{text}`, which is put into the panel's field. */
  compose: 'cowork:compose',
  showTour: 'cowork:show-tour',
  showShortcuts: 'cowork:show-shortcuts'
} as const;
