import t from 'tap';
import {
  addressOf,
  changedChoices,
  choicesOf,
  isOtherPage,
  partsOf,
} from '../../src/dashboard/page/address.ts';
import {
  NO_QUESTION,
  questionInAddress,
  questionOf,
} from '../../src/dashboard/page/explain/call-question.ts';
import { sortingOf } from '../../src/dashboard/page/ui/sorting.ts';
import { partsOf as itemsOf, taken, wrongIn } from '../../src/dashboard/page/ui/typed-list.ts';

t.test('an address has the parts of a route and its choices', async (t) => {
  for (const [address, parts, choices] of [
    ['', [], ''],
    ['#/', [], ''],
    ['#/keys/12', ['keys', '12'], ''],
    ['keys/new', ['keys', 'new'], ''],
    ['#/keys?search=a%26b&use=no', ['keys'], 'search=a%26b&use=no'],
    ['#//keys/', ['keys'], ''],
  ] as const) {
    t.same(partsOf(address), parts, address);
    t.equal(choicesOf(address).toString(), choices, address);
  }
});

t.test('choices are changed, and removed by nothing', async (t) => {
  const before = choicesOf('#/keys?search=ci&before=50');
  t.equal(changedChoices(before, { use: 'no', before: '' }).toString(), 'search=ci&use=no');
  t.equal(before.toString(), 'search=ci&before=50', 'what is shown stays until then');
});

t.test('the address names the time zone if it is UTC', async (t) => {
  const address = (hash: string, zone: 'local' | 'utc') => addressOf(partsOf(hash), choicesOf(hash), zone);
  t.equal(address('#/keys?search=ci', 'local'), '#/keys?search=ci');
  t.equal(address('#/keys', 'utc'), '#/keys?times=utc');
  t.equal(address('#/keys?times=utc&search=ci', 'local'), '#/keys?search=ci');
});

t.test('another page has another path, not other choices', async (t) => {
  const page = (hash: string) => `http://127.0.0.1/dashboard/${hash}`;
  t.notOk(isOtherPage(page('#/keys'), page('#/keys?search=ci')));
  t.ok(isOtherPage(page('#/keys'), page('#/keys/1')));
  t.ok(isOtherPage(page('#/keys'), page('')));
});

t.test('a table is sorted as its address says, and the other way round at a second choice', async (t) => {
  const chosen: string[] = [];
  const sorting = (asked: string) =>
    sortingOf(
      asked,
      { Name: 'name', Spend: 'spend', Created: 'created' },
      '-created',
      ['spend', 'created'],
      (sort) => chosen.push(sort),
    );
  for (const [asked, by, isDown] of [
    ['', 'created', true],
    ['name', 'name', false],
    ['-spend', 'spend', true],
    ['-nothing', 'created', true],
  ] as const) {
    const { by: word, isDown: down } = sorting(asked);
    t.same([word, down], [by, isDown], asked);
  }
  sorting('').choose('name');
  sorting('name').choose('name');
  sorting('name').choose('spend');
  sorting('-spend').choose('spend');
  sorting('').choose('created');
  sorting('created').choose('created');
  t.same(chosen, ['name', '-name', '-spend', 'spend', 'created', ''], 'the fallback leaves the address');
});

const NUMBERS = {
  read: (text: string) => (/^\d+$/.test(text) ? String(Number(text)) : undefined),
  wanted: 'a number',
};

t.test('typed items are added in their normal form, and the wrong ones stay', async (t) => {
  t.same(taken({ items: ['1'], text: '02, 1;x\n3' }, NUMBERS), { items: ['1', '2', '3'], text: 'x' });
  t.same(taken({ items: ['1'], text: ' , ' }, NUMBERS), { items: ['1'], text: '' });
  t.same(itemsOf('1 2', NUMBERS), { good: [], wrong: ['1 2'] }, 'a space is part of an item');
  t.same(itemsOf('1 2\tx', { ...NUMBERS, spaceParts: true }), { good: ['1', '2'], wrong: ['x'] });
  t.equal(wrongIn('1, x, y', NUMBERS), '“x” is not a number.');
  t.equal(wrongIn('1, 2', NUMBERS), '');
});

t.test('a question about a call leaves out what is not typed', async (t) => {
  const at = '2031-01-15T10:00';
  t.same(questionOf({ ...NO_QUESTION, keyId: 7, model: ' flat ', ip: ' 203.0.113.9 ', at }), {
    model: 'flat',
    ip: '203.0.113.9',
    at: new Date(at).toISOString(),
  });
  t.same(questionOf(NO_QUESTION), { model: '' }, 'a model is always named');
  t.same(questionOf({ ...NO_QUESTION, at: 'half' }), { model: '', at: 'half' }, 'the gateway refuses it');
});

t.test('a link from a request fills the question in', async (t) => {
  const { at, ...rest } = questionInAddress(
    choicesOf('#/explain/7?model=flat&ip=8.8.8.8&at=2031-01-15T09:00:00Z&x=1'),
  );
  t.same(rest, { model: 'flat', ip: '8.8.8.8' });
  t.equal(new Date(at ?? '').toISOString(), '2031-01-15T09:00:00.000Z', 'in local time');
  t.same(questionInAddress(choicesOf('#/explain/7')), {});
});
