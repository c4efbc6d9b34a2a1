import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModelServer } from '../models/model-server.ts';
import type { Script } from '../models/script.ts';
import { openDoor, type Answer, type Door } from './door.ts';

/**
 * A user with a separate home and project, a stand-in supervisor, and a scripted model. Disposing removes all of it.
 */
export interface World extends AsyncDisposable {
  /** Unique on this machine, because agents are ended by it. */
  readonly agentId: string;
  readonly home: string;
  readonly project: string;
  readonly stateDir: string;
  readonly temporary: string;
  readonly door: Door;
  readonly model: ModelServer;
  /** The same user with another model. */
  readonly withModel: (script: Script) => Promise<World>;
}

export type StartModel = (script: Script) => Promise<ModelServer>;

export async function openWorld(startModel: StartModel, script: Script, answer: Answer): Promise<World> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-client-')));
  const [home, project, stateDir, temporary] = ['home', 'project', 'state', 'tmp'].map((name) => join(folder, name));
  if (home === undefined || project === undefined || stateDir === undefined || temporary === undefined)
    throw new Error();
  for (const each of [home, project, stateDir, temporary]) mkdirSync(each);
  const door = await openDoor(answer);
  const agentId = `agent-${randomUUID()}`;
  const models: ModelServer[] = [];
  const withModel = async (next: Script): Promise<World> => {
    const model = await startModel(next);
    models.push(model);
    return { agentId, home, project, stateDir, temporary, door, model, withModel, [Symbol.asyncDispose]: close };
  };
  const close = async (): Promise<void> => {
    await Promise.all([door[Symbol.asyncDispose](), ...models.map((model) => model.close())]);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return withModel(script);
}
