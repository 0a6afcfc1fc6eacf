import type { ProviderListView } from '../../../api/operator/providers-view.ts';

export type Provider = ProviderListView['providers'][number];
export type Target = Provider['targets'][number];

/** The models at a credential of a provider. */
export interface Credential {
  readonly name: string;
  readonly targets: readonly Target[];
  /** A target that is out because the credential is refused. */
  readonly refused: Target | undefined;
}

/** Sums of the attempts at a provider. */
export function sumOf({ targets }: Pick<Provider, 'targets'>, span: 'hour' | 'day'): Target['hour'] {
  const sum = (field: 'attempts' | 'failed') => targets.reduce((all, target) => all + target[span][field], 0);
  return { attempts: sum('attempts'), failed: sum('failed') };
}

/** Providers with what is worst first; of those that are equally well, the one with more calls. */
export function worstFirst(providers: readonly Provider[]): Provider[] {
  return providers.toSorted((one, other) => compare(badnessOf(one.targets), badnessOf(other.targets)));
}

/** The credentials of a provider and their targets, each worst first. */
export function credentialsOf({ targets }: Provider): Credential[] {
  return [...Map.groupBy(targets, ({ target }) => target)]
    .map(([name, some]) => ({
      name,
      targets: some.toSorted((one, other) => compare(badnessOf([one]), badnessOf([other]))),
      refused: some.find(({ cause }) => cause === 'credential'),
    }))
    .toSorted((one, other) => compare(badnessOf(one.targets), badnessOf(other.targets)));
}

/** True if nothing is known of a target. */
export function isIdle({ state, calls, day, last_error }: Target): boolean {
  return state === 'up' && calls === 0 && day.attempts === 0 && last_error === null;
}

/** How bad targets are, the most important first. An incident that is over counts less than one of the last hour. */
function badnessOf(targets: readonly Target[]): readonly number[] {
  const shareOf = (span: 'hour' | 'day') => {
    const { attempts, failed } = sumOf({ targets }, span);
    return attempts === 0 ? 0 : failed / attempts;
  };
  return [
    Number(targets.some(({ cause }) => cause === 'credential')),
    Number(targets.some(({ state }) => state === 'out')),
    shareOf('hour'),
    shareOf('day'),
    targets.reduce((calls, target) => calls + target.calls, 0),
  ];
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((value, index) => value !== other[index]);
  return at === -1 ? 0 : (other[at] ?? 0) - (one[at] ?? 0);
}
