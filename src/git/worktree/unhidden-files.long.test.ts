import './plain-view.int.test.ts';
