import type { OperatorCallSummaryView } from '../../../api/calls/summary-view.ts';

/** Failed calls among those that ended at a provider. */
export interface ProviderErrors {
  readonly provider: string;
  readonly hour: Part;
  readonly day: Part;
}

interface Part {
  readonly failed: number;
  readonly calls: number;
}

type OfProviders = Pick<OperatorCallSummaryView, 'providers'>;
interface Span {
  readonly calls: OfProviders;
  readonly failed: OfProviders;
}

/** Providers by their share of failed calls in the last hour, then in the last day. */
export function providerErrors(hour: Span, day: Span): readonly ProviderErrors[] {
  const countOf = ({ providers }: OfProviders, name: string) =>
    providers.find(({ provider }) => provider === name)?.count ?? 0;
  const partOf = ({ calls, failed }: Span, name: string): Part => ({
    failed: countOf(failed, name),
    calls: countOf(calls, name),
  });
  return day.calls.providers
    .map(({ provider }) => ({ provider, hour: partOf(hour, provider), day: partOf(day, provider) }))
    .toSorted((one, other) => rate(other.hour) - rate(one.hour) || rate(other.day) - rate(one.day));
}

function rate({ failed, calls }: Part): number {
  return calls === 0 ? 0 : failed / calls;
}
