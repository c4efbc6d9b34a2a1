import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, ApiError } from '../../../api/answer.ts';
import { call, standing } from '../../app/hub-client.ts';
import { appendPart, type LogPart, type LogWindow, prependPart } from '../../model/log/log-window.ts';

export interface LogState {
  readonly window?: LogWindow;
  /** Of the whole log, in bytes. */
  readonly size: number;
  /** Nothing will be added. */
  readonly hasEnded: boolean;
  readonly error?: ApiError;
}

/** What is loaded at once. */
const PART_BYTES = 256 * 1024;
const FOLLOW_MS = 1000;
/** If the end is further away than this, the log is loaded from its end again. */
const MOST_BEHIND = 4 * PART_BYTES;
const START: LogState = { size: 0, hasEnded: false };

interface AskedPart {
  readonly id: string;
  readonly raw: boolean;
  /** Left out: the end of the log. */
  readonly from?: number;
  readonly limit_bytes: number;
}

type LogAnswer = LogPart & { readonly size: number; readonly ended: boolean };

async function readPart(asked: AskedPart): Promise<Answer<LogAnswer>> {
  return call('agent_log' as 'agent_show', asked) as never; // oxlint-disable-line typescript/no-unsafe-type-assertion -- not declared yet
}

/** The log of an agent from its end. It follows while the reader is at the end and the tab is visible. */
export function useLog(agentId: string, raw: boolean, isFollowing: boolean) {
  const [state, setState] = useState<LogState>(START);
  const latest = useRef(state);
  const isLive = standing.value.link.kind === 'live';
  const put = (next: LogState): void => {
    latest.current = next;
    setState(next);
  };
  useEffect(() => {
    put(START);
  }, [agentId, raw]);
  useEffect(() => {
    if (!isFollowing || !isLive) return undefined;
    const ending = new AbortController();
    void follow({ agentId, raw, read: () => latest.current, put, signal: ending.signal });
    return () => ending.abort();
  }, [agentId, raw, isFollowing, isLive]);
  const isLoadingOlder = useRef(false);
  const loadOlder = async (): Promise<void> => {
    const { window } = latest.current;
    if (window === undefined || window.from === 0 || isLoadingOlder.current) return;
    isLoadingOlder.current = true;
    const from = Math.max(0, window.from - PART_BYTES);
    const answer = await readPart({ id: agentId, raw, from, limit_bytes: window.from - from });
    isLoadingOlder.current = false;
    const now = latest.current;
    if (now.window?.from !== window.from) return;
    if (!answer.ok) put({ ...now, error: answer.error });
    else put({ ...now, window: prependPart(now.window, answer.result) });
  };
  return { state, loadOlder };
}

interface Followed {
  readonly agentId: string;
  readonly raw: boolean;
  readonly read: () => LogState;
  readonly put: (state: LogState) => void;
  readonly signal: AbortSignal;
}

async function follow({ agentId, raw, read, put, signal }: Followed): Promise<void> {
  while (!signal.aborted) {
    const { window, size } = read();
    const from = window === undefined || size - window.to > MOST_BEHIND ? undefined : window.to;
    const answer = await readPart({
      id: agentId,
      raw,
      limit_bytes: PART_BYTES,
      ...(from === undefined ? {} : { from }),
    });
    if (signal.aborted) return;
    if (!answer.ok) put({ ...read(), error: answer.error });
    else {
      const { error: _, ...before } = read();
      const { size: newSize, ended, to } = answer.result;
      const isSame = to === before.window?.to && newSize === before.size && ended === before.hasEnded;
      if (!isSame || _ !== undefined)
        put({ ...before, window: appendPart(before.window, answer.result), size: newSize, hasEnded: ended });
      if (ended && to >= newSize) return;
      if (to < newSize) continue;
    }
    await untilNextLook(signal);
  }
}

async function untilNextLook(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, FOLLOW_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
  if (document.visibilityState === 'visible' || signal.aborted) return;
  await new Promise<void>((resolve) => {
    document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
    signal.addEventListener('abort', () => resolve());
  });
}
