import { batonPostgres, batonTwoHosts } from './baton-postgres.ts';
import { baton } from './baton.ts';
import { bullmq } from './bullmq.ts';
import type { Contender } from './contender.ts';
import { dbos } from './dbos.ts';
import { graphileWorker } from './graphile-worker.ts';
import { pgBoss } from './pg-boss.ts';
import { restate } from './restate.ts';

/** Baton first; the others are its peers. */
export const CONTENDERS: readonly Contender[] = [baton, bullmq, graphileWorker, pgBoss, dbos, restate];

/** The systems on one PostgreSQL: one daemon, two hosts, and the peers that use the same database. */
export const ON_POSTGRES: readonly Contender[] = [batonPostgres, batonTwoHosts, graphileWorker, pgBoss, dbos];
