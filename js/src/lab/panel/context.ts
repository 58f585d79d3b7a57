/** What every part of the panel can reach. */

import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';

import type { Channel } from '../../shared/channel/channel';
import type { Health } from '../../shared/types';
import { includesEvent, type Activity, type IActivityFeed } from '../model/activityFeed';

export interface PanelContext {
  channel: Channel;
  feed: IActivityFeed;
  /** The notebook that is looked at, by its path. */
  notebook: string | null;
  open(contextId: string): void;
  /** Who answers where nobody else was chosen; null until that is known. */
  answerer(): Health['model'] | null;
  /** Brings a file to the user's disk; rejects with a `CoworkError`. */
  download(path: string, fileName: string): Promise<void>;
  /** Lets the user pick files or folders, or only notebooks; missing where Lab has no files. */
  pickFiles?: (only: 'notebooks' | 'any') => Promise<string[]>;
}

const Context = createContext<PanelContext | null>(null);

export const PanelProvider = Context.Provider;

export function usePanel(): PanelContext {
  const panel = useContext(Context);
  if (panel === null) {
    throw new Error('This part needs the panel around it.');
  }
  return panel;
}

/** Bursts of activity reload once. */
const DEBOUNCE_MS = 250;

/**
 * A number that grows when something of these kinds has happened: what depends on it is asked for
 * again. `kinds` is a constant: another array would begin to listen anew.
 */
export function useActivity(kinds: readonly string[], contextId?: string): number {
  const { feed } = usePanel();
  const [count, grow] = useReducer((before: number) => before + 1, 0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hear = (_: unknown, activity: Activity): void => {
      if (timer === undefined && includesEvent(activity, kinds, contextId)) {
        timer = setTimeout(() => {
          timer = undefined;
          grow(undefined);
        }, DEBOUNCE_MS);
      }
    };
    feed.activity.connect(hear);
    return () => {
      clearTimeout(timer);
      feed.activity.disconnect(hear);
    };
  }, [feed, contextId, kinds]);
  return count;
}

export interface Loaded<Value> {
  /** Null until the first answer; then the newest there was. */
  value: Value | null;
  error: unknown;
  reload(): void;
}

/**
 * Asks when it is first drawn and whenever one of `when` has changed. A late answer to an old
 * question is dropped.
 */
export function useLoaded<Value>(
  load: () => Promise<Value>,
  when: readonly unknown[]
): Loaded<Value> {
  const [value, setValue] = useState<Value | null>(null);
  const [error, setError] = useState<unknown>(null);
  const newest = useRef(0);
  const reload = (): void => {
    const turn = ++newest.current;
    const isNewest = (): boolean => turn === newest.current;
    load().then(
      answer => {
        if (isNewest()) {
          setValue(answer);
          setError(null);
        }
      },
      (reason: unknown) => isNewest() && setError(reason)
    );
  };
  // eslint-disable-next-line react-hooks/exhaustive-deps -- `load` is new each time; `when` counts.
  useEffect(reload, when);
  useEffect(
    () => () => {
      newest.current = -1;
    },
    []
  );
  return { value, error, reload };
}
