import './github-walk.int.test.ts';
