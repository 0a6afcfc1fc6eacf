import type { ModelView, OperatorModelView } from '../../../api/models/model-view.ts';
import type { ProviderListView } from '../../../api/operator/providers-view.ts';
import { count } from '../format/credits.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { CopyValue } from '../ui/copy.tsx';
import { Badge, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Panel } from '../ui/panel.tsx';
import { markupWords, priceLines } from './prices.ts';

/** A model; those of the operator have their targets and the provider's price. */
export type ListedModel = ModelView & Partial<Omit<OperatorModelView, keyof ModelView>>;
export type Target = ProviderListView['providers'][number]['targets'][number];

/** A target with its credential's state. */
export function TargetState({ of: { target, state, out_until } }: { of: Target }) {
  return (
    <div className="nowrap">
      {target}{' '}
      {state === 'out' && (
        <Badge kind="bad">
          {out_until === null ? (
            'Paused'
          ) : (
            <>
              Paused until <Time at={out_until} brief />
            </>
          )}
        </Badge>
      )}
    </div>
  );
}

/** A model at the side, with all of its prices. */
export function ModelPanel({ of: model, targets }: { of: ListedModel; targets: readonly Target[] }) {
  const scope = useScope();
  const { choose } = useChoices();
  const { key } = scope.me;
  const tiers = Object.entries(model.service_tiers);
  const markup = markupWords(model.price, model.list_price);
  return (
    <Panel title={model.id} onClose={() => choose({ model: '' })}>
      {key && (
        <p>
          <Badge kind="good">Allowed</Badge> The key “{key.name}” may call it.
        </p>
      )}
      <CopyValue label="Name" value={model.id} />
      <Facts>
        <Fact name="Modality">{CATEGORY_NAMES[model.category] ?? model.category}</Fact>
        <Fact name="Prices in credits">
          <Prices of={model.price} />
        </Fact>
        {model.list_price && (
          <Fact name="List prices in credits">
            <Prices of={model.list_price} />
          </Fact>
        )}
        {markup && <Fact name="Markup">{markup}</Fact>}
        {model.price_until && <Fact name="Promised until">{model.price_until}</Fact>}
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
        {targets.length > 0 && (
          <Fact name="Providers">
            {targets.map((target) => (
              <div key={target.target}>
                <TargetState of={target} />
                {target.state === 'out' && target.last_error}
              </div>
            ))}
          </Fact>
        )}
      </Facts>
      {scope.can('read calls') && (
        <p className="panel-actions">
          <PageLink to="requests" choices={{ model: model.id }}>
            Show its requests
          </PageLink>
        </p>
      )}
    </Panel>
  );
}

function Prices({ of: price }: { of: ModelView['price'] }) {
  const lines = priceLines(price);
  return lines.length === 0 ? 'Free' : lines.map((line) => <div key={line}>{line}</div>);
}
