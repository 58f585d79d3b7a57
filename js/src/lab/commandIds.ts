export const CommandIDs = {
  openPanel: 'cowork:open-panel',
  newConversation: 'cowork:new-conversation',
  showInbox: 'cowork:show-inbox',
  planChange: 'cowork:plan-change',
  insertPlan: 'cowork:insert-plan',
  insertAct: 'cowork:insert-act',
  insertAsk: 'cowork:insert-ask',
  chooseRole: 'cowork:choose-role',
  /** Used by the role menu; it needs `{role}`, so the palette does not show it. */
  setRole: 'cowork:set-role',
  checkConnection: 'cowork:check-connection'
} as const;
