import { test } from 'tap';
import { parseHold } from '../../../src/ledger/journal/entry-text.ts';

test('the text of a hold is read with and without limits of calls and a person, and a model keeps its spaces', async (t) => {
  const draftOf = (text: string) => parseHold(text).draft?.(0, 'id');
  const wanted = { category: 'text', endpoint: '/v1/responses', model: 'my model 4' };
  t.match(draftOf('5 9 1 2 3 4 text /v1/responses my model 4'), wanted);
  t.match(draftOf('5 9 1 2 3 4 1/0/2/70 text /v1/responses my model 4'), wanted);
  t.match(draftOf('5 9 1 2 3 4 12p text /v1/responses my model 4'), { ...wanted, personId: 12 });
  t.match(draftOf('5 9 1 2 3 4 1/0/2/70 12p text /v1/responses my model 4'), { ...wanted, personId: 12 });
});
