import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateFiles } from '../api/state-folder.ts';
import type { Judge } from '../protocol/handoff/judge.ts';
import type { AttemptLimit, StopAction, StreamFormat } from '../protocol/run-plan.ts';
import type { SandboxRecord, SandboxSpec } from '../protocol/sandbox.ts';
import type { Standing } from '../protocol/standing.ts';

/**
 * The files that the daemon and a supervisor share. They also communicate over HTTP on loopback; either may be killed
 * at any moment, and the files show the other one the current state.
 */
export function agentFiles(stateDir: string, agentId: string) {
  return filesIn(join(stateFiles(stateDir).agents, agentId));
}

/** The files of a shell step or gate. The same program supervises them, in separate folders. */
export function commandFiles(stateDir: string, commandId: string) {
  return filesIn(join(stateFiles(stateDir).commands, commandId));
}

export function filesIn(folder: string) {
  return {
    folder,
    /** `HookConfig`: what the stop hook needs if neither supervisor nor daemon answers. */
    config: join(folder, 'config.json'),
    /** `Launch`: what to run, written before the supervisor is started. Mode 0600, because it contains tokens. */
    launch: (start: number) => join(folder, `launch-${start}.json`),
    /** Created with O_EXCL by the first supervisor of a start: a second one exits at once. */
    taken: (start: number) => join(folder, `taken-${start}`),
    /** `Running`: written when the process runs and the hook server listens. */
    running: (start: number) => join(folder, `running-${start}.json`),
    /** `Exit`: written when the process has exited, before the exit is reported. */
    exit: (start: number) => join(folder, `exit-${start}.json`),
    /** The client's id of the conversation, as last reported, with which the next process resumes it. */
    conversation: join(folder, 'conversation'),
    /** `HeldMessage[]`: messages that none of the agent's processes has received yet. */
    held: join(folder, 'held.json'),
    /** The agent's usage over all its processes. */
    usage: join(folder, 'usage.json'),
    log: join(folder, 'output.log'),
    bin: join(folder, 'bin'),
  } as const;
}

/** Exit code of a supervisor: another one supervises this start. */
export const EXIT_ALREADY_SUPERVISED = 75;
/** Exit code of a supervisor: the disk has no room for its files. It ran nothing and gave the start back. */
export const EXIT_NO_ROOM = 74;

/** The content of `config.json`; more keys may follow. A missing or unreadable file means `signal`. */
export interface HookConfig {
  readonly on_stop: StopAction;
  readonly attempts?: AttemptLimit;
  /** `limits.blocks`, and the number of blocks before this start. */
  readonly max_blocks?: number;
  readonly blocks_before?: number;
  /** Set if the client's `stop_hook_active` is unreliable: the supervisor then counts by itself. */
  readonly ignores_flag?: true;
  /** The newest start: `running-{start}.json` has the supervisor's address. */
  readonly start?: number;
}

/**
 * The prefix of a supervisor's variables with secrets for the sandbox's proxy. The supervised process does not get
 * them.
 */
export const SECRET_PREFIX = 'BATON_SECRET_';

export interface Launch {
  readonly v: 1;
  readonly kind: 'agent' | 'command';
  readonly id: string;
  readonly start: number;
  /** Program and arguments; a shell command is `['/bin/sh', '-c', …]`. `${BATON_URL}` is replaced, as in `files`. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  /** Set if the process runs in a user's terminal: the user's command starts it, and the supervisor waits for that. */
  readonly terminal?: true;
  /** How long the supervisor waits for the user's command; default: half a minute. */
  readonly arrival_ms?: number;
  /** Variables set in addition to the supervisor's own environment; an empty text removes a variable. */
  readonly env: Readonly<Record<string, string>>;
  /** The daemon's variables that pass besides the default list; the supervisor is started with no others. */
  readonly env_pass?: readonly string[];
  /** Names of the daemon's variables that did not pass, for the log. */
  readonly env_dropped?: readonly string[];
  readonly names_dropped?: true;
  /** What the program prints: plain text, or JSON lines in the format of a client. */
  readonly output: 'text' | StreamFormat;
  /**
   * What is sent on standard input: plain lines, or JSON lines. `once`: the prompt, then closed, for programs that read
   * to the end. `none`: closed.
   */
  readonly input: 'none' | 'once' | 'text' | 'stream-json';
  /** The first message; sent on standard input unless `input` is `none`. */
  readonly prompt: string | null;
  /** Ids of the messages in the prompt that an earlier process did not receive. */
  readonly held?: readonly string[];
  readonly timeout_ms: number | null;
  /** The time between SIGTERM and SIGKILL. */
  readonly kill_after_ms: number;
  /** The agent is idle after this long without output; null: never. */
  readonly idle_ms: number | null;
  /** `limits.silence` and `limits.tool`; absent if silence is not measured. */
  readonly silence_ms?: number;
  readonly tool_ms?: number;
  /** How often the supervisor reports that it is alive; absent if it reports only events. */
  readonly report_ms?: number;
  /** How often the claim is renewed; null without a claim. */
  readonly renew_ms: number | null;
  /**
   * Set if other hosts may take over the claim: the supervisor freezes the process if its lease ends without a renewal.
   */
  readonly fleet?: true;
  /** How long a tool call may be held at the client's hook: its timeout less ten seconds. Default: see `holds.ts`. */
  readonly hold_ms?: number;
  readonly log_bytes: number;
  /** Whether exit signals in the agent's output are sent to the daemon when its turn or its process ends. */
  readonly finds_exit_signals: boolean;
  /** The supervisor's token (`caller.kind` `supervisor`). */
  readonly token: string;
  /** The agent's token, which its process has in BATON_TOKEN. */
  readonly agent_token: string;
  /** The messages that the session still owes, in words, for the reason of a block. */
  readonly owes: readonly string[];
  /** The absolute path, through which the daemon is found. */
  readonly state_dir: string;
  /** Files written before the process starts: settings with hooks, the `baton` of its PATH. */
  readonly files?: readonly LaunchFile[];
  /** Folders created before the process starts, for the client's own files. */
  readonly folders?: readonly string[];
  /** Absent if the process runs as the user, with the user's rights. */
  readonly sandbox?: SandboxSpec;
  /** The program that opens ports inside the sandbox's network namespace. */
  readonly sandbox_helper?: string;
  /** Ports of Baton on this machine, which no sandbox may reach. */
  readonly forbidden_ports?: readonly number[];
  /** The record for a process without a sandbox. */
  readonly sandbox_record?: SandboxRecord;
  /** Set if the session judges: what the supervisor records about its client. */
  readonly judge?: Judge;
}

export interface LaunchFile {
  /** An absolute path. */
  readonly path: string;
  /** The content; `${BATON_URL}` is replaced, because only the supervisor knows its address. */
  readonly content: string;
  readonly mode?: number;
  /** Replaces the content: the path becomes a symbolic link to this target. */
  readonly link?: string;
}

export interface Running {
  readonly start: number;
  readonly supervisor: string;
  readonly process: string;
  /** The port for hooks, the agent's own calls (`/v1/…`, `/mcp`) and the daemon's requests (`/control`). */
  readonly port: number;
  readonly sandbox?: SandboxRecord;
  readonly judge?: Judge;
}

/** The id that names the container and the control groups of a run. */
export function sandboxId({ id, start }: Pick<Launch, 'id' | 'start'>): string {
  return `${id}-${start}`;
}

/**
 * The body of `POST /control`, sent with the supervisor's token. The response is `{ok: true}` or `{ok: false, error}`,
 * sent when the message was carried out.
 */
export type Control =
  | { readonly kind: 'standing'; readonly standing: Standing }
  /** Takes effect once: a repeated id gets the first response. */
  | {
      readonly kind: 'send';
      readonly message_id: string;
      readonly text: string;
      /** The person's decision, if the agent had asked for permission. */
      readonly permission?: 'allow' | 'deny';
      /** Deliver only if the turn has ended, since a running turn needs no wake-up. */
      readonly wakes?: boolean;
    }
  /** The response is sent when the process group, and every process that left it, is gone. */
  | { readonly kind: 'kill'; readonly reason: string };

/** Reads the launch. Throws if the file is missing or invalid; in that case nothing has been started. */
export function requireLaunch(path: string): Launch {
  const launch: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!isLaunch(launch)) throw new Error(`${path} is not a launch that this Baton knows`);
  return launch;
}

/**
 * Checks only the outline: a daemon of the same or a neighbouring version wrote the file, unless it is a different
 * file.
 */
function isLaunch(value: unknown): value is Launch {
  if (typeof value !== 'object' || value === null) return false;
  const { v, kind, id, argv, cwd, env, token, agent_token, state_dir }: Partial<Record<keyof Launch, unknown>> = value;
  const texts = [id, cwd, token, agent_token, state_dir];
  const isCommandLine = Array.isArray(argv) && argv.length > 0 && argv.every((word) => typeof word === 'string');
  const hasKind = kind === 'agent' || kind === 'command';
  return (
    v === 1 && hasKind && isCommandLine && typeof env === 'object' && texts.every((text) => typeof text === 'string')
  );
}
