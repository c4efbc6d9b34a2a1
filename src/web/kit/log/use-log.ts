import { useEffect, useRef, useState } from 'preact/hooks';
import type { Answer, ApiError } from '../../../api/answer.ts';
import type { AgentLogPart } from '../../../api/operations/agent-log.ts';
import { call, standing } from '../../app/hub-client.ts';
import { appendPart, type LogWindow, prependPart } from '../../model/log/log-window.ts';

/** The source of a log: an agent, or a command of a shell step or a check. */
export type LogSource = { readonly id: string } | { readonly command_id: string };

export interface LogState {
  readonly window?: LogWindow;
  /** The file that the window is a part of. Another file replaces it when a long log is cut. */
  readonly file?: string;
  readonly format?: AgentLogPart['format'];
  /** The size of the whole log in bytes. */
  readonly size: number;
  /** Whether the log is complete. */
  readonly hasEnded: boolean;
  /** Whether the middle of a long output was removed while it was followed. */
  readonly isCut: boolean;
  readonly error?: ApiError;
}

const START: LogState = { size: 0, hasEnded: false, isCut: false };
/** The maximum that is loaded at once. */
const PART = { limit_bytes: 256 * 1024, to_lines: 2000 };
const FOLLOW_MS = 1000;
/** If the end is further away than this, the log is loaded again from its end. */
const MOST_BEHIND = 4 * PART.limit_bytes;

/** Loads a log from its end. Follows it while the reader is at the end and the tab is visible. */
export function useLog(source: LogSource, raw: boolean, isFollowing: boolean) {
  const [state, setState] = useState<LogState>(START);
  const latest = useRef(state);
  const isLive = standing.value.link.kind === 'live';
  // Plain-text programs have colours only in their raw output.
  const asked = { ...source, raw: raw || state.format === 'text' };
  const name = JSON.stringify(asked);
  const put = (next: LogState): void => {
    latest.current = next;
    setState(next);
  };
  useEffect(() => {
    const { format } = latest.current;
    put({ ...START, ...(format === undefined ? {} : { format }) });
  }, [name]);
  useEffect(() => {
    if (!isFollowing || !isLive) return undefined;
    const ending = new AbortController();
    void follow({ asked, read: () => latest.current, put, signal: ending.signal });
    return () => ending.abort();
  }, [name, isFollowing, isLive]);
  const isLoadingOlder = useRef(false);
  const loadOlder = async (): Promise<void> => {
    const { window, file } = latest.current;
    if (window === undefined || window.from === 0 || isLoadingOlder.current) return;
    isLoadingOlder.current = true;
    const answer = await call('agent_log', { ...asked, ...PART, to: window.from });
    isLoadingOlder.current = false;
    const now = latest.current;
    if (now.window?.from !== window.from) return;
    if (!answer.ok) put({ ...now, error: answer.error });
    else if (answer.result.file === file) put({ ...now, window: prependPart(now.window, answer.result) });
  };
  return { state, loadOlder };
}

interface Followed {
  readonly asked: LogSource & { readonly raw: boolean };
  readonly read: () => LogState;
  readonly put: (state: LogState) => void;
  readonly signal: AbortSignal;
}

async function follow({ asked, read, put, signal }: Followed): Promise<void> {
  while (!signal.aborted) {
    const { window, size, file } = read();
    const isBehind = window === undefined || size - window.to > MOST_BEHIND;
    const place = isBehind ? { to_lines: PART.to_lines } : { from: window.to, ...(file === undefined ? {} : { file }) };
    const answer = await call('agent_log', { ...asked, limit_bytes: PART.limit_bytes, ...place });
    if (signal.aborted) return;
    const next = withAnswer(read(), answer, isBehind);
    if (next !== read()) put(next);
    const isAtEnd = answer.ok && answer.result.to >= answer.result.size;
    if (isAtEnd && answer.result.ended) return;
    // The last line of a running program may be incomplete; the daemon does not send it then.
    const hasMore = answer.ok && !isAtEnd && answer.result.text !== '';
    if (!hasMore) await untilNextLook(signal);
  }
}

/** Adds an answer to the state. Returns the same state if nothing has changed. */
function withAnswer(before: LogState, answer: Answer<AgentLogPart>, isNew: boolean): LogState {
  if (!answer.ok) return { ...before, error: answer.error };
  const { error, ...rest } = before;
  const { format, file, size, ended, is_cut: isCut, to } = answer.result;
  const isSame = error === undefined && to === rest.window?.to && size === rest.size && ended === rest.hasEnded;
  if (isSame && !isCut) return before;
  const window = appendPart(isNew || isCut ? undefined : rest.window, answer.result);
  return { ...rest, window, format, file, size, hasEnded: ended, isCut: rest.isCut || isCut };
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
