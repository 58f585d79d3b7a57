/** Context shared by all parts of the panel. */

import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';

import type { Channel } from '../../shared/channel/channel';
import type { Health } from '../../shared/types';
import { includesEvent, type Activity, type IActivityFeed } from '../model/activityFeed';

export interface PanelContext {
  channel: Channel;
  feed: IActivityFeed;
  /** Path of the current notebook. */
  notebook: string | null;
  open(contextId: string): void;
  /** The default model; null until known. */
  answerer(): Health['model'] | null;
  /** Downloads a file; rejects with a `CoworkError`. */
  download(path: string, fileName: string): Promise<void>;
  /** Opens Lab's file dialog; missing without a file browser. */
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
 * A counter that increases on such events, for use as a dependency. Pass a constant array as
 * `kinds`: a new one would resubscribe.
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
  /** Null until the first answer, then the latest. */
  value: Value | null;
  error: unknown;
  reload(): void;
}

/** Loads on mount and whenever one of `when` changes; ignores outdated answers. */
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

/** What the server answers, asked again on such events; see `useActivity`. */
export function useFollowed<Answer>(
  path: string,
  kinds: readonly string[],
  contextId?: string
): Loaded<Answer> {
  const { channel } = usePanel();
  const happened = useActivity(kinds, contextId);
  return useLoaded(() => channel.request<Answer>('GET', path), [path, happened]);
}
