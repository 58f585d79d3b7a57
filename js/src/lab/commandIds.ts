export const CommandIDs = {
  openPanel: 'cowork:open-panel',
  insertPlan: 'cowork:insert-plan',
  insertAct: 'cowork:insert-act',
  chooseRole: 'cowork:choose-role',
  /** Used by the role menu; it needs `{role}`, so the palette does not show it. */
  setRole: 'cowork:set-role',
  checkConnection: 'cowork:check-connection'
} as const;
