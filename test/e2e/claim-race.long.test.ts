import { proveRace } from './claim-race.cases.ts';

proveRace(32, 200);
