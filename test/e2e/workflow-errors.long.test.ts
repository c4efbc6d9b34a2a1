import './workflow-errors.int.test.ts';
