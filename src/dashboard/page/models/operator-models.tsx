import type { OperatorModelView } from '../../../api/models/model-view.ts';
import { readModelsOfOperator } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { Empty } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { categoriesOf, filteredModels, ModelFilters } from './model-filters.tsx';
import { PRICE_COLUMNS, PriceCells, shortPrice } from './price-cells.tsx';

const SOURCES = { config: 'Config', list: 'Price list', free: 'Free' } as const;

/** Every model with its price, what its provider takes, the markup between them, and where the price is from. */
export function OperatorModels() {
  const loaded = useLoad(readModelsOfOperator);
  return (
    <Shown of={loaded}>
      {({ models }) => {
        const shown = filteredModels(models);
        return (
          <>
            <p className="lead">Prices are in credits per 1,000,000 tokens unless noted.</p>
            <search className="filters">
              <ModelFilters categories={categoriesOf(models)} />
            </search>
            {shown.length === 0 ? (
              <Empty title="No results">
                <p>No model has this name and modality.</p>
              </Empty>
            ) : (
              <ModelTable models={shown} />
            )}
          </>
        );
      }}
    </Shown>
  );
}

function ModelTable({ models }: { models: readonly OperatorModelView[] }) {
  return (
    <Table
      label="Models"
      columns={[
        'Model',
        'Modality',
        ...PRICE_COLUMNS,
        ['List in', 'number'],
        ['List out', 'number'],
        ['Markup', 'number'],
        'Source',
        'Provider',
      ]}
    >
      {models.map((model) => (
        <tr key={model.id} className="compact facts">
          <th scope="row" className="clip">
            {model.id}
          </th>
          <td className="nowrap compact-hidden">{CATEGORY_NAMES[model.category] ?? model.category}</td>
          <PriceCells of={model.price} isFree={model.source === 'free'} isShort />
          <td className="number compact-hidden">{listPrice(model, 'input')}</td>
          <td className="number compact-hidden">{listPrice(model, 'output')}</td>
          <td className={markupWords(model) === '–' ? 'number compact-hidden' : 'number'}>
            {markupWords(model)}
          </td>
          <td className="nowrap compact-figure">{SOURCES[model.source]}</td>
          <td className="clip-short" title={model.targets.join(', ')}>
            {model.targets.join(', ')}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function listPrice({ list_price }: OperatorModelView, unit: 'input' | 'output'): string {
  const price = list_price?.[unit];
  return price === undefined ? '–' : shortPrice(price);
}

/** The price as a multiple of the list price, by the first unit that both name: `×1.2`. */
export function markupWords({ price, list_price }: OperatorModelView): string {
  for (const [unit, amount] of Object.entries(price)) {
    const list = list_price?.[unit as keyof typeof price];
    if (typeof amount === 'number' && typeof list === 'number' && list > 0) {
      return `×${Math.round((amount / list) * 100) / 100}`;
    }
  }
  return '–';
}
