import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Answer } from '../../src/api/answer.ts';
import { createClient } from '../../src/api/client/connect.ts';
import { readToken } from '../../src/api/state-folder.ts';
import { runDaemon } from '../../src/daemon/lifecycle.ts';
import { STORE } from '../stores/chosen.ts';
import { findLedgerFile } from '../stores/find-ledger-file.ts';

export interface RealDaemon extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** The ledger's file of the only project. */
  readonly ledgerFile: string;
  readonly project: string;
  /** A git repository with one commit. */
  readonly repository: string;
  readonly commit: string;
  readonly git: (folder: string, ...args: string[]) => string;
  readonly workerToken: string;
  readonly operatorToken: string;
  readonly port: number;
  readonly asOperator: (operation: string, input: unknown) => Promise<Answer>;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
}

/** A daemon with its socket and port, a separate state folder and a repository. */
export async function startRealDaemon(more: Readonly<Record<string, string>> = {}): Promise<RealDaemon> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-mcp-')));
  const repository = join(folder, 'repository');
  const stateDir = join(folder, 'state');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    BATON_STATE_DIR: stateDir,
    BATON_RESTART: 'off',
    ...STORE,
    ...more,
  };
  const git: RealDaemon['git'] = (cwd, ...args) =>
    execFileSync('git', args, { cwd, env: { ...env, ...AUTHOR }, encoding: 'utf8', stdio: 'pipe' }).trim();
  git(folder, 'init', '-q', '-b', 'main', repository);
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'a commit');
  let daemon = await started(stateDir, env);
  const operator = createClient({ env, projectPath: repository, autostart: false });
  return {
    env,
    get ledgerFile() {
      return findLedgerFile(stateDir);
    },
    get project() {
      return basename(findLedgerFile(stateDir), '.db');
    },
    repository,
    commit: git(repository, 'rev-parse', 'HEAD'),
    git,
    workerToken: readToken(stateDir, 'worker') ?? '',
    operatorToken: readToken(stateDir, 'operator') ?? '',
    get port() {
      return daemon.record.port;
    },
    asOperator: async (operation, input) => operator.forward(operation, input),
    stop: async () => daemon.stop(),
    start: async () => {
      daemon = await started(stateDir, env);
    },
    [Symbol.asyncDispose]: async () => {
      operator.close();
      await daemon.stop();
      await daemon.stopped;
      rmSync(folder, { recursive: true });
    },
  };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

async function started(stateDir: string, env: RealDaemon['env']) {
  const result = await runDaemon({ stateDir, env });
  if (!result.ok) throw new Error(result.error.message);
  return result.daemon;
}
