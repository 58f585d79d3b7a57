import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { RunActions } from './actions';

interface RunContext {
  actions: RunActions;
  /** False for a record, and until the server has answered: then nothing can be clicked. */
  live: boolean;
}

const Context = createContext<RunContext | null>(null);

export const RunProvider = Context.Provider;

/** For components that also render outside of cards. */
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
