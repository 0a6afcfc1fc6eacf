import { useQuery } from '@tanstack/react-query';
import type { ModelListView, ModelView, OperatorModelListView } from '../../../api/models/model-view.ts';
import type { ProviderListView } from '../../../api/operator/providers-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { Empty } from '../ui/elements.tsx';
import { Choice, ClearFilters, Search } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type ListedModel, ModelPanel, type Target, TargetState } from './model-panel.tsx';
import { firstPrice, furtherPrices, shortPrice } from './prices.ts';

/** Every model with its prices; for the operator also the provider's prices and the state of its targets. */
export default function ModelsPage() {
  const scope = useScope();
  return <Page title="Models">{scope.kind === 'own' ? <OwnModels /> : <OperatorModels />}</Page>;
}

function OwnModels() {
  const scope = useScope();
  const list = useQuery(read<ModelListView>(scope, `${scope.api}models/`));
  const { key } = scope.me;
  return (
    <>
      <p className="hint">
        Prices are in credits per 1,000,000 tokens, unless they say otherwise.
        {key && ` These are the models that the key “${key.name}” may call.`}
      </p>
      <Shown of={list}>{({ data }) => <Models of={data} targets={[]} />}</Shown>
    </>
  );
}

function OperatorModels() {
  const scope = useScope();
  const list = useQuery(read<OperatorModelListView>(scope, '/api/admin/models/'));
  const providers = useQuery({
    ...read<ProviderListView>(scope, '/api/admin/providers/'),
    refetchInterval: POLL_MS,
  });
  return (
    <>
      <p className="hint">
        Prices are in credits per 1,000,000 tokens, unless they say otherwise. List prices are the provider's,
        at markup 1.
      </p>
      <Shown of={list}>
        {({ models }) => (
          <Models of={models} targets={providers.data?.providers.flatMap(({ targets }) => targets) ?? []} />
        )}
      </Shown>
    </>
  );
}

function Models({ of: models, targets }: { of: readonly ListedModel[]; targets: readonly Target[] }) {
  const { kind } = useScope();
  const { choices, choose } = useChoices();
  const { search = '', category = '', model } = choices;
  const text = search.trim().toLowerCase();
  const shown = models.filter(
    (one) =>
      (category === '' || one.category === category) &&
      [one.id, ...one.aliases].some((name) => name.toLowerCase().includes(text)),
  );
  const categories = [...new Set(models.map((one) => one.category))];
  const opened = models.find(({ id }) => id === model);
  const found =
    shown.length === models.length ? `${models.length} models` : `${shown.length} of ${models.length} models`;
  return (
    <>
      <search className="filters">
        <Search name="search" label="Search" placeholder="Name" />
        <Choice
          name="category"
          label="Modality"
          none="All"
          values={categories.map((value) => [value, CATEGORY_NAMES[value] ?? value])}
        />
        <ClearFilters names={['search', 'category']} />
        <span className="hint">{found}</span>
      </search>
      <Table
        label="Models"
        columns={kind === 'own' ? OWN_COLUMNS : operatorColumns(targets)}
        rows={shown}
        rowKey={({ id }) => id}
        onOpen={({ id }) => choose({ model: id })}
        found={found}
        empty={
          <Empty title={models.length === 0 ? 'No models' : 'No results'}>
            <p>
              {models.length === 0
                ? 'No model can be called here.'
                : 'No model has this name and modality. Change or clear the filters.'}
            </p>
          </Empty>
        }
      />
      {opened && <ModelPanel of={opened} targets={targets.filter((target) => target.model === opened.id)} />}
    </>
  );
}

const NAME: Column<ListedModel> = {
  id: 'model',
  title: 'Model',
  cell: ({ id }) => id,
  sort: ({ id }) => id,
};

const MODALITY: Column<ListedModel> = {
  id: 'modality',
  title: 'Modality',
  from: 'wide',
  phone: 'figure',
  cell: ({ category }) => CATEGORY_NAMES[category] ?? category,
  sort: ({ category }) => CATEGORY_NAMES[category] ?? category,
};

const OTHER: Column<ListedModel> = {
  id: 'other',
  title: 'Other prices',
  from: 'widest',
  cell: ({ price }) => {
    const others = furtherPrices(price);
    if (Object.keys(price).length === 0) return 'Free';
    // The panel of the row has all of them.
    return others === '' ? '–' : <div className="clip">{others}</div>;
  },
};

const OWN_COLUMNS: readonly Column<ListedModel>[] = [
  NAME,
  MODALITY,
  price('input', 'Input', ({ price: prices }) => prices.input),
  { ...price('cached', 'Cached input', ({ price: prices }) => prices.cachedInput, 'wide'), phone: 'hidden' },
  price('output', 'Output', ({ price: prices }) => prices.output),
  OTHER,
  {
    id: 'context',
    title: 'Context',
    kind: 'number',
    from: 'wide',
    phone: 'hidden',
    cell: ({ context_length }) => (context_length === null ? '–' : count(context_length)),
    sort: ({ context_length }) => context_length ?? 0,
  },
];

const SOURCES = { config: 'Configuration', list: 'Price list', free: 'Free' } as const;

function operatorColumns(targets: readonly Target[]): readonly Column<ListedModel>[] {
  const byModel = Map.groupBy(targets, ({ model }) => model);
  return [
    NAME,
    MODALITY,
    price('input', 'Input', ({ price: prices }) => prices.input),
    price('output', 'Output', ({ price: prices }) => prices.output),
    price('list_input', 'List input', ({ list_price }) => list_price?.input, 'wide'),
    price('list_output', 'List output', ({ list_price }) => list_price?.output, 'wide'),
    OTHER,
    {
      id: 'source',
      title: 'Price from',
      from: 'widest',
      cell: ({ source }) => source && SOURCES[source],
      sort: ({ source = 'free' }) => SOURCES[source],
    },
    {
      id: 'targets',
      title: 'Providers',
      cell: ({ id, targets: names = [] }) => {
        const known = byModel.get(id) ?? [];
        return known.length === 0
          ? names.join(', ')
          : known.map((target) => <TargetState key={target.target} of={target} />);
      },
      sort: ({ id }) => -(byModel.get(id)?.filter(({ state }) => state === 'out').length ?? 0),
    },
  ];
}

function price(
  id: string,
  title: string,
  of: (model: ListedModel) => ModelView['price'][keyof ModelView['price']],
  from?: 'wide',
): Column<ListedModel> {
  return {
    id,
    title,
    kind: 'number',
    ...(from && { from }),
    cell: (model) => {
      const amount = of(model);
      return amount === undefined ? '–' : shortPrice(amount);
    },
    sort: (model) => {
      const amount = of(model);
      return amount === undefined ? -1 : firstPrice(amount);
    },
  };
}
