import type { VNode } from 'preact';

import type { PlanStep, StepStatus } from '../types';
import { t } from '../text/translate';
import { layout, type Node } from './layout';
import { statusColour } from './StepMark';

const [ACROSS, DOWN, RADIUS] = [46, 28, 10];

function place({ column, row }: Node): { x: number; y: number } {
  return { x: column * ACROSS + RADIUS + 2, y: row * DOWN + RADIUS + 2 };
}

/** Shows which steps can run in parallel; the list has the same information as text. */
export function Graph({
  steps,
  status
}: {
  steps: readonly PlanStep[];
  status: (step: PlanStep) => StepStatus;
}): VNode {
  const nodes = layout(steps);
  const byId = new Map(nodes.map(node => [node.step.id, node]));
  const width = Math.max(...nodes.map(node => place(node).x)) + RADIUS + 2;
  const height = Math.max(...nodes.map(node => place(node).y)) + RADIUS + 2;
  return (
    <div class="cw-graph" tabIndex={0} role="group" aria-label={t('Order of the steps')}>
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={t('Step dependencies; the list has the same information.')}
      >
        {nodes.flatMap(node =>
          node.step.depends_on.map(id => {
            const before = byId.get(id);
            return (
              before && (
                <path
                  key={`${id}-${node.step.id}`}
                  class="cw-graph-edge"
                  d={curve(place(before), place(node))}
                />
              )
            );
          })
        )}
        {nodes.map(node => {
          const { x, y } = place(node);
          return (
            <g
              key={node.step.id}
              class={`cw-graph-node cw-colour-${statusColour(status(node.step))}`}
            >
              <circle cx={x} cy={y} r={RADIUS} />
              <text x={x} y={y} dy="0.35em">
                {node.step.step_number}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function curve(from: { x: number; y: number }, to: { x: number; y: number }): string {
  const [start, end] = [from.x + RADIUS, to.x - RADIUS];
  const middle = (start + end) / 2;
  return `M${start} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${end} ${to.y}`;
}
