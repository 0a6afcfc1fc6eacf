import t from 'tap';
import { changed, chosenOf, formatChoices, parseChoices } from '../../src/dashboard/page/ui/choices.ts';

t.test('choices are read from an address and written to it', async (t) => {
  for (const [query, choices] of [
    ['', {}],
    ['?search=a%26b&use=no', { search: 'a&b', use: 'no' }],
    ['?key_id=12', { key_id: '12' }],
  ] as const) {
    t.same(parseChoices(query), choices);
    t.equal(formatChoices(choices), query, 'a number stays a text, without quotes');
  }
  t.equal(formatChoices({ search: '', use: undefined }), '', 'nothing chosen leaves no question mark');
});

t.test('choices are changed, and removed by nothing', async (t) => {
  const before = { search: 'ci', before: '50' };
  t.same(changed(before, { use: 'no', before: '' }), { search: 'ci', use: 'no' });
  t.same(before, { search: 'ci', before: '50' }, 'what is shown stays until then');
});

t.test('filters of a list are the chosen ones of those that the API takes', async (t) => {
  t.same(chosenOf({ status: 'active', sort: 'name', search: '' }, ['status', 'search']), {
    status: 'active',
  });
});
