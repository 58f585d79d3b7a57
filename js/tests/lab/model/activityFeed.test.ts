import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import {
  ActivityFeed,
  includesEvent,
  WakingChannel,
  type Activity
} from '../../../src/lab/model/activityFeed';
import { CoworkError } from '../../../src/shared/channel/channel';
import { PageSocket } from '../../../src/shared/channel/pageSocket';
import { FakeServer } from '../../runs';
import { FakeSocket } from '../../shared/channel/fakeSocket';

describe('news', () => {
  beforeEach(() => FakeSocket.install());
  afterEach(() => vi.unstubAllGlobals());

  it('listens once, and only when told to', () => {
    const feed = new ActivityFeed(new PageSocket('ws://jupyter.example/cowork/ws'));
    expect(FakeSocket.all).toHaveLength(0);
    feed.listen();
    feed.listen();
    expect(FakeSocket.all).toHaveLength(1);
  });

  it('passes on what happened, and after a connection that anything may have', () => {
    const feed = new ActivityFeed(new PageSocket('ws://jupyter.example/cowork/ws'));
    const heard: Activity[] = [];
    feed.activity.connect((_, happened) => heard.push(happened));
    feed.listen();
    FakeSocket.all[0]?.greet();
    FakeSocket.all[0]?.tell({ type: 'activity', happened: { c1: ['job-started'] } });
    expect(heard).toEqual([null, { c1: ['job-started'] }]);
  });

  it('tells by kind and conversation whether something is of interest', () => {
    const happened = { c1: ['job-started'], c2: ['question-asked'] };
    expect(includesEvent(happened, ['question-asked'])).toBe(true);
    expect(includesEvent(happened, ['question-asked'], 'c1')).toBe(false);
    expect(includesEvent(happened, ['job-started'], 'c1')).toBe(true);
    expect(includesEvent(null, [], 'c9')).toBe(true);
  });
});

describe('the waking channel', () => {
  it('tells once when the server has answered for the first time, and not before', async () => {
    const server = new FakeServer();
    const wake = vi.fn();
    const channel = new WakingChannel(server, wake);
    await expect(channel.request('GET', 'nothing')).rejects.toBeInstanceOf(CoworkError);
    expect(wake).not.toHaveBeenCalled();
    server.answers.set('GET health', { version: '1' });
    await expect(channel.request('GET', 'health')).resolves.toEqual({ version: '1' });
    await channel.request('GET', 'health');
    expect(wake).toHaveBeenCalledOnce();
  });
});
