import './page-views.int.test.ts';
