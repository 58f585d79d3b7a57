export const CommandIDs = {
  openPanel: 'cowork:open-panel',
  newConversation: 'cowork:new-conversation',
  showInbox: 'cowork:show-inbox',
  planChange: 'cowork:plan-change',
  insertPlan: 'cowork:insert-plan',
  insertAct: 'cowork:insert-act',
  insertAsk: 'cowork:insert-ask',
  chooseRole: 'cowork:choose-role',
  /**
   * Used by role menus, of new conversations and of the one in view; they need `{role}`, so the
   * palette does not show them.
   */
  setRole: 'cowork:set-role',
  switchRole: 'cowork:switch-role',
  checkConnection: 'cowork:check-connection',
  /** Needs `{text}`: brings the panel forward with it in the field. */
  compose: 'cowork:compose',
  fixCell: 'cowork:fix-cell',
  explainError: 'cowork:explain-error',
  askOutput: 'cowork:ask-output',
  cellPrompt: 'cowork:cell-prompt',
  nextCell: 'cowork:next-cell',
  runDependents: 'cowork:run-dependents',
  showTour: 'cowork:show-tour',
  showShortcuts: 'cowork:show-shortcuts'
} as const;
