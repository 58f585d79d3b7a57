import { expect, it, vi } from 'vitest';

import { HostProvider } from '../../../../src/shared/card/host';
import { SaveWorkflow } from '../../../../src/lab/parts/workflows/SaveWorkflow';
import { FakeServer } from '../../../runs';
import { button, draw, one } from '../../../screen';
import { calm, list, press, write } from '../../panel/drawing';

const SAVED = {
  name: 'monthly_report',
  title: 'Monthly report',
  template: { source: 'user', parameters: [{ name: 'file', title: 'file', example: 'may.csv' }] }
};

it('offers the values of the plan, saves those that vary, and tries it at once', async () => {
  const server = new FakeServer();
  const answers: [string, unknown][] = [
    [
      'GET context/c1/plan/parameters?plan_id=p1&revision=2',
      list(
        { name: 'file', value: 'may.csv', type: 'path', nature: 'file' },
        { name: 'top', value: '10', type: 'text', nature: 'number' }
      )
    ],
    ['POST workflows', SAVED],
    ['POST workflows/monthly_report/run', { context_id: 'c9' }]
  ];
  answers.forEach(([request, answer]) => server.answers.set(request, answer));
  const openConversation = vi.fn();
  const screen = draw(
    <HostProvider value={{ openConversation }}>
      <SaveWorkflow channel={server} context="c1" planId="p1" revision={2} />
    </HostProvider>
  );
  await calm();
  expect(document.activeElement).toBe(one(screen, 'input'));
  const boxes = [...screen.querySelectorAll<HTMLInputElement>('input[type=checkbox]')];
  expect(boxes.map(({ checked }) => checked)).toEqual([true, false]);
  const save = button(screen, 'Save workflow');
  expect(save.getAttribute('aria-disabled')).toBe('true');
  await write(one(screen, 'input'), 'Monthly report');
  expect(screen.textContent).toContain('%cowork run monthly_report');
  await press(save);
  expect(server.changes[0]?.body).toEqual({
    name: 'monthly_report',
    title: 'Monthly report',
    description: '',
    parameters: [{ name: 'file', value: 'may.csv', title: 'file' }],
    context_id: 'c1',
    plan_id: 'p1',
    revision: 2
  });
  expect(one<HTMLInputElement>(screen, 'input').value).toBe('may.csv');
  await write(one(screen, 'input'), 'june.csv');
  await press(button(screen, 'Try it'));
  expect(server.changes[1]).toEqual({
    method: 'POST',
    path: 'workflows/monthly_report/run',
    body: { parameters: { file: 'june.csv' } }
  });
  expect(openConversation).toHaveBeenCalledWith('c9');
  expect(screen.textContent).toContain('waiting for you in the Cowork panel');
});
