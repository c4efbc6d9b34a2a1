import './session-missions.int.test.ts';
