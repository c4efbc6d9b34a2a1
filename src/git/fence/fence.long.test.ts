import './fence.int.test.ts';
