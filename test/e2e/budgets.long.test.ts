import './budgets.int.test.ts';
