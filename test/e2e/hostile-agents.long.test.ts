import './hostile-agents.int.test.ts';
