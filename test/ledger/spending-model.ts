import type { LimitPeriod } from '../../src/domain/limit-periods.ts';
import type { OwnedLimit } from '../../src/domain/spending-limits.ts';

const DAY_MS = 86_400_000;
export const FIVE_HOURS_MS = 5 * 3_600_000;

/** A charge or refund, and the windows in which it counts. */
interface Counted {
  readonly id: string;
  /** Micro-credits; below 0 for a refund. */
  readonly credits: number;
  /** Days since the epoch. */
  readonly day: number;
  /** Start of the five hours in which it counts, in milliseconds since the epoch. */
  readonly hours: number;
}

/**
 * The windows of a key, a member or an account (specification section 5), as sums over its entries instead of a running count.
 * Times are in milliseconds since the epoch.
 */
export class OwnerModel {
  entries: Counted[] = [];
  /** The latest day that has begun for it. */
  day = 0;
  /** Start of its last five hours. */
  hours = 0;

  areRunning(now: number): boolean {
    return now < this.hours + FIVE_HOURS_MS;
  }

  begin(now: number): void {
    if (!this.areRunning(now)) this.hours = now;
  }

  spent(period: LimitPeriod, now: number): number {
    const day = Math.max(dayOf(now), this.day);
    switch (period) {
      case '5h':
        return this.areRunning(now) ? this.#sum(({ hours }) => hours === this.hours) : 0;
      case 'daily':
        return this.#sum((entry) => entry.day >= day);
      case 'weekly':
        return this.#sum((entry) => entry.day >= mondayOf(day));
      case 'monthly':
        return this.#sum((entry) => entry.day >= firstOf(day));
      case 'total':
        return this.#sum(() => true);
    }
  }

  /** A rebuild: of five hours in which nothing was booked, nothing is left. */
  rebuilt(day: number): void {
    if (!this.entries.some(({ hours }) => hours === this.hours))
      this.hours = this.entries.reduce((last, { hours }) => Math.max(last, hours), 0);
    this.day = day;
  }

  #sum(counts: (entry: Counted) => boolean): number {
    return this.entries.filter(counts).reduce((sum, { credits }) => sum + credits, 0);
  }
}

/** An admitted call, in micro-credits. */
export interface CallModel {
  readonly id: string;
  /** Index of its key. */
  readonly key: number;
  readonly hold: number;
  readonly estimate: number;
  readonly admittedAt: number;
  readonly deadline: number;
}

/** Keys below this index are those of the member. */
export const MEMBER_KEYS = 2;

/** Keys of an account, two of them a member's, with their spending limits, and everything that they spend. */
export class SpendingModel {
  readonly account = new OwnerModel();
  readonly member = new OwnerModel();
  readonly keys = [new OwnerModel(), new OwnerModel(), new OwnerModel()];
  overdraft = 0;
  /** Calls whose hold Redis has. */
  held: CallModel[] = [];
  /** Calls whose hold was lost with Redis. */
  lost: CallModel[] = [];

  /** Whether a call would exceed no limit. `gatewayNow`: the time by which the gateway tells days. */
  fits({ key, hold, estimate }: CallModel, limits: readonly OwnedLimit[], now: number, gatewayNow: number) {
    return limits.every(({ of, period, credits }) => {
      const owner = of === 'key' ? this.#key(key) : this[of];
      const { held, estimated } = this.reserved(owner);
      const room = credits - owner.spent(period, period === '5h' ? now : gatewayNow);
      return estimated + estimate <= room && held + hold <= room + this.overdraft;
    });
  }

  /** Sums of the holds and of the estimates of an owner's open calls. */
  reserved(owner: OwnerModel): { held: number; estimated: number } {
    const open = this.held.filter(({ key }) => this.#owners(key).includes(owner));
    return {
      held: open.reduce((sum, { hold }) => sum + hold, 0),
      estimated: open.reduce((sum, { estimate }) => sum + estimate, 0),
    };
  }

  admitted(call: CallModel, now: number): void {
    this.held.push(call);
    for (const owner of this.#owners(call.key)) owner.begin(now);
  }

  /** `gatewayNow`: the end of the call, or of its hold, as its gateway tells the time. */
  settled(call: CallModel, credits: number, gatewayNow: number): void {
    const day = Math.max(dayOf(gatewayNow), this.account.day);
    for (const owner of this.#owners(call.key)) {
      // Redis may have lost the five hours that the call's admission began.
      if (this.lost.includes(call)) owner.begin(call.admittedAt);
      owner.begin(gatewayNow);
      owner.day = day;
      owner.entries.push({ id: call.id, credits, day, hours: owner.hours });
    }
    this.released(call);
  }

  released(call: CallModel): void {
    this.held = this.held.filter((each) => each !== call);
    this.lost = this.lost.filter((each) => each !== call);
  }

  /** Redis may have lost the charge, or an earlier refund of it. */
  refunded(key: number, id: string): void {
    for (const { entries } of this.#owners(key)) {
      const charge = entries.find((entry) => entry.id === id);
      const refund = `${id}:refund`;
      if (charge && !entries.some((entry) => entry.id === refund))
        entries.push({ ...charge, id: refund, credits: -charge.credits });
    }
  }

  rebuilt(now: number): void {
    const days = this.account.entries.map(({ day }) => day);
    const day = Math.max(dayOf(now), ...days);
    for (const owner of this.all) owner.rebuilt(day);
  }

  /** Everything in Redis is lost, with entries that the book does not have. */
  lose(booked: ReadonlySet<string>): void {
    this.lost.push(...this.held);
    this.held = [];
    for (const owner of this.all) owner.entries = owner.entries.filter(({ id }) => booked.has(id));
  }

  get all(): readonly OwnerModel[] {
    return [...this.keys, this.member, this.account];
  }

  #key(index: number): OwnerModel {
    return this.keys[index] as OwnerModel;
  }

  #owners(key: number): readonly OwnerModel[] {
    const members = key < MEMBER_KEYS ? [this.member] : [];
    return [this.#key(key), ...members, this.account];
  }
}

export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

function mondayOf(day: number): number {
  return day - ((new Date(day * DAY_MS).getUTCDay() + 6) % 7);
}

function firstOf(day: number): number {
  const date = new Date(day * DAY_MS);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / DAY_MS;
}
