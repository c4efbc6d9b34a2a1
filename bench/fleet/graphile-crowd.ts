import type { PostgresServer } from '../../test/postgres/server.ts';
import { importPeer } from '../handoff/peers.ts';
import { runCrowd, type Crowd, type CrowdPlan } from './crowd.ts';

export async function runGraphileCrowd(server: PostgresServer, plan: CrowdPlan): Promise<Crowd> {
  const connectionString = await server.createDatabase();
  const { makeWorkerUtils } = await importPeer<GraphileUtils>('graphile-worker');
  const utils = await makeWorkerUtils({ connectionString });
  await utils.migrate();
  await utils.addJobs(
    Array.from({ length: plan.batons }, (_, chain) => ({ identifier: 'hand', payload: { chain, n: 0 } })),
  );
  await utils.release();
  return runCrowd(
    'graphile',
    plan,
    Array.from({ length: plan.hosts }, () => connectionString),
  );
}

/** The part of the module that is used here. */
interface GraphileUtils {
  makeWorkerUtils: (options: unknown) => Promise<{
    migrate(): Promise<void>;
    addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
    release(): Promise<void>;
  }>;
}
