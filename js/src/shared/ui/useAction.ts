import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** State of an action started by a button. */
export interface Action {
  busy: boolean;
  error: unknown;
  /** Ignored while busy, so that a double click counts once. Resolves to whether it succeeded. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  forget(): void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  const mounted = useRef(true);
  useEffect(
    () => () => {
      mounted.current = false;
    },
    []
  );
  const run = useCallback(async (work: () => Promise<unknown>): Promise<boolean> => {
    if (running.current) {
      return false;
    }
    running.current = true;
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (reason) {
      if (mounted.current) {
        setError(reason);
      }
      return false;
    } finally {
      running.current = false;
      if (mounted.current) {
        setBusy(false);
      }
    }
  }, []);
  return { busy, error, run, forget: () => setError(null) };
}
