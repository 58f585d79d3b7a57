/** Run actions for cards outside of a run: in the inbox and on the timeline. */

import type { Channel } from '../../shared/channel/channel';
import type {
  Checkpoint,
  FileDiff,
  Page,
  Rollback,
  RollbackRequest,
  RunCardData
} from '../../shared/types';
import { RunActions } from '../../shared/run/actions';
import { BLANK } from '../../shared/run/snapshot';
import { RunStore } from '../../shared/run/store';

export function emptyRunCard(
  contextId: string,
  jobId: string,
  role: string,
  title: string
): RunCardData {
  return {
    version: 1,
    kind: 'run',
    host: 'server',
    context_id: contextId,
    job_id: jobId,
    role,
    title,
    snapshot: { ...BLANK, role, model: null, goal: '' },
    saved_at: null
  };
}

export function standaloneActions(channel: Channel, contextId: string): RunActions {
  return new RunActions(channel, new RunStore(channel, emptyRunCard(contextId, '', '', '')));
}

/** Limited to one checkpoint: rollback and diff cover everything since it. */
export class CheckpointActions extends RunActions {
  constructor(
    private readonly server: Channel,
    contextId: string,
    private readonly one: Checkpoint
  ) {
    super(server, new RunStore(server, emptyRunCard(contextId, '', '', '')));
  }

  override checkpoints(): Promise<Checkpoint[]> {
    return Promise.resolve([this.one]);
  }

  override rollback(checkpointId: string, body: RollbackRequest): Promise<Rollback> {
    return super.rollback(checkpointId, { scope: 'since', ...body });
  }

  override async changes(checkpointId: string): Promise<FileDiff[]> {
    return (
      await this.server.request<Page<FileDiff>>(
        'GET',
        `checkpoints/${checkpointId}/diff?scope=since`
      )
    ).items;
  }
}
