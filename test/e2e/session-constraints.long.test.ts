import './session-constraints.int.test.ts';
