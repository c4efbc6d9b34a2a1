import './acp-agents.int.test.ts';
