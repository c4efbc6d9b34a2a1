import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { ApiError } from '../api/answer.ts';
import { writeFileAtomically } from '../api/files.ts';
import { removeOldPasses } from '../api/operator-pass.ts';
import { belowSessionError, findSessionAbove } from '../api/session-above.ts';
import { clearDownIntent, type DaemonRecord, findStateDir, hasDownIntent, stateFiles } from '../api/state-folder.ts';
import { VERSION } from '../api/version.ts';
import { Effects } from '../effects/effects.ts';
import { removeInspectionFolders } from '../git/own/inspection-folder.ts';
import { openKeyFile } from '../ledger/writer/keys.ts';
import { exitProtocolEnabled } from '../protocol/exit-signal/exit-signal.ts';
import { isDiskFault, isShortage } from '../protocol/resource-faults.ts';
import { adviseSandbox } from '../effects/sandbox/advise-sandbox.ts';
import { resetCrashCount } from '../watchdog/restart-record.ts';
import { dispatchCall } from './dispatch.ts';
import { HostClock } from './fleet/host-clock.ts';
import { handleWebhook } from './http/github-webhook.ts';
import type { McpEndpoint, McpEndpointOptions } from './http/mcp-endpoint.ts';
import { type HttpExchange, route } from './http/route.ts';
import { DaemonServer } from './http/server.ts';
import { SERVER_LIMITS } from './limits.ts';
import { causeOf, type Log, openLog, ThrottledLog } from './log.ts';
import type { KeptMessages } from './loop/request.ts';
import type { GitPort, Services } from './operations/call.ts';
import { OutboxDelivery } from './outbox-delivery.ts';
import { LoopPulse } from './process-health.ts';
import { createEffectContext } from './project/effect-context.ts';
import { PageAccess } from './pages/page-access.ts';
import { PageLedgers } from './pages/page-ledgers.ts';
import { Projects } from './project/projects.ts';
import { Rulebook } from './rules/rulebook.ts';
import { RunbookWatch } from './rules/runbook-watch.ts';
import { type DaemonSettings, readSettings } from './settings.ts';
import { lockStateFolder, readOwnership } from './state-lock.ts';
import { loadReporter } from './telemetry/load-reporter.ts';
import { Telemetry } from './telemetry/telemetry.ts';
import { AccessTokens, type CallerIdentity } from './tokens.ts';
import { SessionLimits } from './session-limits.ts';

export interface DaemonOptions {
  readonly stateDir?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly echo?: (line: string) => void;
  /** The watchdog starts this daemon after a crash. The daemon stops again if `baton down` was recorded. */
  readonly isRestart?: boolean;
  /** Called before the daemon listens, because clients rely on a restart after a crash. */
  readonly beforeListening?: (stateDir: string, log: Log) => void;
}

export interface Daemon {
  readonly record: DaemonRecord;
  readonly stateDir: string;
  readonly log: Log;
  /** Resolves when everything is closed. May be called more than once. */
  readonly stop: () => Promise<void>;
  readonly stopped: Promise<void>;
}

export type DaemonStarted =
  | { readonly ok: true; readonly daemon: Daemon }
  | { readonly ok: false; readonly isTaken: boolean; readonly error: ApiError };

export async function runDaemon(options: DaemonOptions = {}): Promise<DaemonStarted> {
  const env = options.env ?? process.env;
  const stateDir = options.stateDir ?? findStateDir(env);
  const settings = readSettings(env);
  if (!settings.ok) return { ok: false, isTaken: false, error: settings.error };
  // A daemon started inside a session would inherit the session's environment and escape its limits.
  const above = findSessionAbove(stateDir, env);
  if (above !== undefined) return { ok: false, isTaken: false, error: belowSessionError(above) };
  const lock = lockStateFolder(stateDir);
  if (!lock.ok) return lock;
  const log = openLog(stateFiles(stateDir).log, options.echo === undefined ? {} : { echo: options.echo });
  const { isRestart = false } = options;
  try {
    if (!isRestart) {
      clearDownIntent(stateDir);
      resetCrashCount(stateDir);
    }
    await removeInspectionFolders(stateDir);
    const context = { ...options, stateDir, settings: settings.settings, log, env, isRestart };
    return { ok: true, daemon: await openDaemon(context, lock.release) };
  } catch (error) {
    lock.release();
    log.error('the daemon cannot start', { cause: causeOf(error) });
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, isTaken: false, error: { code: 'cannot-start', message, hint: hintFor(error, stateDir) } };
  }
}

interface DaemonContext extends DaemonOptions {
  readonly stateDir: string;
  readonly settings: DaemonSettings;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
}

async function openDaemon(
  { stateDir, settings, log, env, echo: say, isRestart, beforeListening }: DaemonContext,
  release: () => void,
): Promise<Daemon> {
  const files = stateFiles(stateDir);
  const started = new Date().toISOString();
  const tokens = new AccessTokens(stateDir);
  const signer = openKeyFile(files.signingKey);
  if (!signer.ok) throw new Error(signer.problems[0].message);
  const loop = new LoopPulse(settings.loopLagMs);
  const servicesFor = (path: string): Services => makeServices(path, tokens, settings, { log, env, loop });
  const messagesFor = (projectId: string): KeptMessages => ({
    areWaiting: () => delivery.isWaiting(projectId),
    drain: async () => delivery.drain(projectId),
    blockedMs: () => delivery.blockedMs(projectId),
  });
  const telemetry = new Telemetry(log, await loadReporter(settings.telemetry, log));
  const projects = new Projects({
    stateDir,
    telemetry,
    settings,
    signer: signer.value,
    log,
    env,
    servicesFor,
    messagesFor,
    onStoreBack: () => void delivery.deliver(),
  });
  const pages = new PageAccess({ stateDir, signer: signer.value });
  const ledgers = new PageLedgers({ pages, projects, operator: tokens.operator.caller, log });
  const door = { pages, ledgers };
  const shared = {
    projects,
    door,
    outbox: files.outbox,
    log,
    sessionLimits: new SessionLimits(),
    drain: async (caller: CallerIdentity) => delivery.drainFor(caller),
    onKept: () => delivery.retryLater(),
  };
  const isAway = (id: string): boolean => projects.opened().some(({ project }) => project.id === id && project.isAway);
  const delivery: OutboxDelivery = new OutboxDelivery({ ...shared, tokens, isAway });
  const ended = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  let watching: NodeJS.Timeout | undefined;
  const throttled = new ThrottledLog(log);
  const stop = async (): Promise<void> => (stopping ??= close());
  const { instance } = pages;
  const routeOptions = {
    ...shared,
    tokens,
    delivery,
    started,
    instance,
    stateDir,
    stop,
    underWay: () => server.underWay,
  };
  const mcp = lazyMcpEndpoint({ ...shared, tokens });
  const server = new DaemonServer({
    stateDir,
    tokens,
    log,
    door,
    dispatch: async (call) => dispatchCall(call, shared),
    metrics: () => telemetry.renderMetrics(),
    webhook: async (request, response) => handleWebhook(request, response, { stateDir, env, projects, log }),
    route: async (exchange) => (isMcp(exchange) ? (await mcp()).handle(exchange) : route(exchange, routeOptions)),
  });

  async function close(): Promise<void> {
    log.info('stopping');
    await server.finishCalls();
    await delivery.stop();
    await projects.close();
    await telemetry.close();
    clearInterval(watching);
    pages.close();
    loop[Symbol.dispose]();
    // The order matters: when the lock is free, the next daemon may start with a socket of the same name.
    if (readOwnership(files.record).kind === 'ours') {
      rmSync(files.record, { force: true });
      server.closeListeners();
    }
    release();
    log.info('stopped');
    void server.closeConnections().then(ended.resolve);
  }

  await delivery.deliver();
  delivery.listen();
  beforeListening?.(stateDir, log);
  const record: DaemonRecord = { pid: process.pid, ...(await server.listen()), version: VERSION, started };
  writeFileAtomically(files.record, `${JSON.stringify(record)}\n`);
  void ledgers.recordEarlier();
  // `baton down` leaves this file if it finds no daemon. From here on it finds this one.
  if (isRestart === true && hasDownIntent(stateDir)) {
    await stop();
    throw new Error('baton down was called while the daemon started');
  }
  // If the state folder was removed or replaced, no client can find this daemon to stop it.
  const checkFolder = (): void => {
    const owned = readOwnership(files.record);
    if (owned.kind === 'lost') {
      log.error('the state folder was removed, or another daemon has it');
      return void stop();
    }
    if (owned.kind === 'unknown')
      return throttled.error(describeWatchError(owned.error), { cause: owned.error.message });
    delivery.deliverIfAny();
    removeOldPasses(stateDir);
  };
  watching = setInterval(checkFolder, SERVER_LIMITS.folderCheckMs).unref();
  void projects.start(
    (project, services) =>
      new Effects((onSpawned) =>
        createEffectContext({ project, services, tokens, settings, env, log, say, onSpawned }),
      ),
  );
  log.info('started', { version: VERSION, port: record.port, socket: record.socket });
  return { record, stateDir, log, stop, stopped: ended.promise };
}

/** The log may be missing, because a full disk has no room for it. */
function hintFor(error: unknown, stateDir: string): string {
  if (isDiskFault(error)) return `Make room on the disk of ${stateDir}, or make it writable; then: baton up`;
  return isShortage(error) ? 'Raise the limit on open files: ulimit -n; then: baton up' : 'See daemon.log.';
}

function describeWatchError(error: Error): string {
  return isShortage(error)
    ? 'out of descriptors: connections are dropped until some are free (ulimit -n)'
    : 'the state folder cannot be read';
}

function isMcp({ request }: HttpExchange): boolean {
  return request.url === '/mcp' || request.url?.startsWith('/mcp?') === true;
}

/** Loads the MCP libraries at the first request, because most daemons get none over HTTP. */
function lazyMcpEndpoint(options: McpEndpointOptions): () => Promise<McpEndpoint> {
  let endpoint: Promise<McpEndpoint> | undefined;
  return async () => (endpoint ??= import('./http/mcp-endpoint.ts').then((loaded) => new loaded.McpEndpoint(options)));
}

function makeServices(
  path: string,
  tokens: AccessTokens,
  { exitFlag }: DaemonSettings,
  { log, env, loop }: Pick<DaemonContext, 'log' | 'env'> & Pick<Services, 'loop'>,
): Services {
  // Logs the place and the number of errors, never the content of the file.
  const runbook = new RunbookWatch(path, (problems) => {
    if (problems === undefined) return log.info('the runbook is valid again', { path });
    const [{ file, line }] = problems;
    const count = problems.length;
    return log.error('the runbook has errors; the last valid version stays in force', {
      path,
      file,
      line,
      problems: count,
    });
  });
  const rulebook = new Rulebook({ path, env, log });
  const clock = new HostClock();
  return {
    newId: randomUUID,
    issueToken: (session) => tokens.issueSession(session),
    git: { keepCommit },
    log,
    env,
    runbook,
    rulebook,
    get exitProtocol() {
      return exitProtocolEnabled(exitFlag, rulebook.runbookFor(null).exitProtocol);
    },
    monotonicMs: () => performance.now(),
    loop,
    clock,
    now: () => clock.now(),
    adviseSandbox: async (mode) => adviseSandbox(mode, env),
  };
}

const keepCommit: GitPort['keepCommit'] = async (own, sha) => {
  const kept = await own.with(sha.toLowerCase());
  return kept.ok ? undefined : kept.problem;
};
