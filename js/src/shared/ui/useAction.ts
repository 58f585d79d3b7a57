import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** Something the user set going with a button. */
export interface Action {
  busy: boolean;
  error: unknown;
  /**
   * Does nothing while the last one is under way: a double click is one click. Resolves to whether
   * it went well.
   */
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
