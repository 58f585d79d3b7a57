import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { RunActions } from './actions';

interface RunContext {
  actions: RunActions;
  /**
   * False for a record, and until the server has said how the run stands: then there is nothing to
   * click.
   */
  live: boolean;
}

const Context = createContext<RunContext | null>(null);

export const RunProvider = Context.Provider;

/** Null for what also stands outside of cards. */
export function useRunIfAny(): RunContext | null {
  return useContext(Context);
}

export function useRun(): RunContext {
  const run = useContext(Context);
  if (run === null) {
    throw new Error('This part of a card needs a run around it.');
  }
  return run;
}
