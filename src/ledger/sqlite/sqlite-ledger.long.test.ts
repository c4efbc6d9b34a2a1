import './sqlite-ledger.int.test.ts';
