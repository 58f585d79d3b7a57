import type { VNode } from 'preact';

import { Note } from './Note';
import type { Health } from './protocol';
import { SetupHelp } from './SetupHelp';

/**
 * What is wrong and how to put it right; nothing when all is well.
 * `sayWhyNot` is false when an answer beside the button says it already: once is enough.
 */
export function ModelHelp({ health, sayWhyNot }: { health: Health; sayWhyNot: boolean }): VNode {
  return (
    <>
      {!health.model.ready && sayWhyNot && health.model.why_not && <Note>{health.model.why_not}</Note>}
      {health.problems.map(problem => (
        <Note key={problem.code}>{problem.message}</Note>
      ))}
      {!health.model.ready && <SetupHelp provider={health.model.provider} />}
    </>
  );
}
