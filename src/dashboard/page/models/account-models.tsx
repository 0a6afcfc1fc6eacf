import type { ReactNode } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import type { ModelView } from '../../../api/models/model-view.ts';
import { modelNames } from '../../../domain/allowed-models.ts';
import { type Base, OWN, readKeys, readModels } from '../api/account.ts';
import { readOwnKey } from '../api/keys.ts';
import { readModelsOfOperator } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { KeyChoice } from '../keys/key-choice.tsx';
import { choose, query } from '../route.ts';
import { manages, session } from '../session/session.ts';
import { CopyValue } from '../ui/copy-value.tsx';
import { Badge, Empty } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';
import { SidePanel } from '../ui/side-panel.tsx';
import { opening, Table } from '../ui/table.tsx';
import { categoriesOf, filteredModels, ModelFilters } from './model-filters.tsx';
import { PRICE_COLUMNS, PriceCells, priceLines } from './price-cells.tsx';

/** Every model with its prices, and whether the chosen key may call it. */
export function AccountModels({ of: base }: { of: Base }) {
  const choosesKey = base !== OWN || manages();
  const loaded = useLoad(async (signal) => {
    const [models, keys] = await Promise.all([
      base === OWN ? readModels(signal) : readModelsOfOperator(signal).then((report) => report.models),
      choosesKey ? readKeys(base, signal) : readOwnKey(signal).then((key) => [key]),
    ]);
    return { models, keys };
  }, base);
  return (
    <Shown of={loaded}>
      {({ models, keys }) => {
        const first = base === OWN ? session.value?.keyId : keys[0]?.id;
        const chosen = query.value.get('key_id') || String(first ?? '');
        const key = keys.find(({ id }) => String(id) === chosen);
        const shown = filteredModels(models);
        const opened = models.find(({ id }) => id === query.value.get('model'));
        return (
          <>
            <p className="lead">
              Prices are in credits per 1,000,000 tokens unless noted.
              {key && ` “May call” is for the key “${key.name}”.`}
            </p>
            <search className="filters">
              {choosesKey && (
                <KeyChoice keys={keys} chosen={chosen} onChosen={(key_id) => choose({ key_id })} />
              )}
              <ModelFilters categories={categoriesOf(models)} />
            </search>
            {shown.length === 0 ? (
              <Empty title="No results">
                <p>No model has this name and modality.</p>
              </Empty>
            ) : (
              <ModelTable models={shown} of={key} />
            )}
            {opened && <ModelDetail of={opened} forKey={key} />}
          </>
        );
      }}
    </Shown>
  );
}

function ModelTable({ models, of: key }: { models: readonly ModelView[]; of: KeyView | undefined }) {
  return (
    <Table
      label="Models"
      columns={['Model', 'Modality', ...PRICE_COLUMNS, ['Context', 'number'], 'This key']}
    >
      {models.map((model) => (
        <tr
          key={model.id}
          className="opens compact facts"
          onClick={opening(() => choose({ model: model.id }))}
        >
          <th scope="row" className="clip">
            <button type="button" className="link">
              {model.id}
            </button>
          </th>
          <td className="nowrap compact-hidden">{CATEGORY_NAMES[model.category] ?? model.category}</td>
          <PriceCells of={model.price} isFree={Object.keys(model.price).length === 0} />
          <td className="number compact-hidden">
            {model.context_length === null ? '–' : count(model.context_length)}
          </td>
          <td className="nowrap compact-figure">
            <MayCall of={model} by={key} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Whether a key may call a model by its restrictions, and the reason where not. */
function MayCall({ of: model, by: key }: { of: ModelView; by: KeyView | undefined }) {
  const reason = key && reasonAgainst(key, model);
  if (reason === undefined) return <Badge kind="good">May call</Badge>;
  return (
    <Badge kind="warning" title={reason}>
      {reason}
    </Badge>
  );
}

/** The key's restriction that refuses a model; undefined if none does. Empty lists restrict nothing. */
function reasonAgainst(key: KeyView, { id, category }: ModelView): string | undefined {
  const refuses = (list: readonly string[], value: string) => list.length > 0 && !list.includes(value);
  if (refuses(key.allowed_categories, category)) return 'Modality not allowed';
  if (key.allowed_models.length > 0 && !modelNames(key.allowed_models).has(id)) return 'Model not allowed';
  return undefined;
}

function ModelDetail({ of: model, forKey: key }: { of: ModelView; forKey: KeyView | undefined }) {
  const tiers = Object.entries(model.service_tiers);
  return (
    <SidePanel title={model.id} onClose={() => choose({ model: '' })}>
      <p>
        <MayCall of={model} by={key} />
      </p>
      <CopyValue label="Name" value={model.id} />
      <dl className="settings">
        <Fact name="Prices in credits">
          {priceLines(model.price).map((line) => (
            <div key={line}>{line}</div>
          ))}
          {Object.keys(model.price).length === 0 && 'free'}
        </Fact>
        {tiers.length > 0 && (
          <Fact name="Service tiers">{tiers.map(([tier, times]) => `${tier} ×${times}`).join(', ')}</Fact>
        )}
        {model.context_length !== null && <Fact name="Context">{count(model.context_length)} tokens</Fact>}
        {model.max_output_tokens !== null && (
          <Fact name="Longest answer">{count(model.max_output_tokens)} tokens</Fact>
        )}
        <Fact name="Endpoints">
          {model.endpoints.map((path) => (
            <div key={path}>
              <code>{path}</code>
            </div>
          ))}
        </Fact>
        {model.aliases.length > 0 && <Fact name="Other names">{model.aliases.join(', ')}</Fact>}
      </dl>
    </SidePanel>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
