import t from 'tap';
import { SHORT_HISTORIES, testHistories } from './fixed-histories.ts';

t.equal(SHORT_HISTORIES.length, 3);
// One after the other, on one PostgreSQL.
testHistories(t, SHORT_HISTORIES, 1);
