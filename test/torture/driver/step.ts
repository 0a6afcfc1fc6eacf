import { setTimeout as sleep } from 'node:timers/promises';
import type fc from 'fast-check';
import type { Model } from '../model/model.ts';
import { loseWithoutFault } from '../nemesis/loss-without-fault.ts';
import { type FaultPlan, injectFault } from '../nemesis/nemesis.ts';
import { concurrentAlertWorker, overtakeRebuild, sweepNow } from '../nemesis/other-gateway.ts';
import type { MoodName } from '../world/targets.ts';
import { type CallPlan, makeCall, pick } from './calls.ts';
import { changeLimit, type LimitPlan } from './change-limits.ts';
import { countOpenCalls } from './count-open-calls.ts';
import { type EstimatedCallPlan, makeEstimatedCalls } from './estimated-calls.ts';
import type { History } from './history.ts';
import {
  type AccountPlan,
  changeKey,
  changeOverdraft,
  changeSpending,
  type KeyChangePlan,
  type KeyPlan,
  makeAccount,
  makeKey,
  newTopUp,
  type OverdraftPlan,
  type SpendingPlan,
  topUp,
} from './owners.ts';
import { type RotationPlan, rotate } from './rotate.ts';
import { changeThreshold, type ThresholdPlan } from './thresholds.ts';

/** Parameters of each kind of step. */
export interface StepPlans {
  calls: { readonly plans: readonly CallPlan[]; readonly isAwaited: boolean };
  'estimated calls': { readonly plans: readonly EstimatedCallPlan[] };
  account: AccountPlan;
  key: KeyPlan;
  change: KeyChangePlan;
  'top-up': { readonly slot: number; readonly account: number; readonly credits: number };
  adjustment: StepPlans['top-up'];
  threshold: ThresholdPlan;
  overdraft: OverdraftPlan;
  limit: LimitPlan;
  spending: SpendingPlan;
  rotation: RotationPlan;
  'open calls': null;
  fault: FaultPlan;
  'first target': FirstTargetPlan;
  'loss without fault': { readonly afterMs: number };
  sweep: null;
  'overtaken rebuild': { readonly account: number };
  'concurrent alert worker': { readonly lateMs: number };
}

/** Behavior of the first target from now on, starting `afterMs` after the previous step. */
interface FirstTargetPlan {
  readonly mood: MoodName;
  readonly afterMs: number;
}

const TRIES = 6;

const RUNS: {
  readonly [Kind in keyof StepPlans]: (history: History, plan: StepPlans[Kind]) => Promise<void>;
} = {
  /** Makes concurrent calls. With `isAwaited`, the next step begins after they end, otherwise while they go on. */
  async calls(history, { plans, isAwaited }) {
    const all = Promise.all(plans.map((plan) => makeCall(history, plan)));
    if (isAwaited) await all;
    else history.inBackground(all);
  },
  'estimated calls': makeEstimatedCalls,
  account: makeAccount,
  key: makeKey,
  change: changeAndCall,
  'top-up': changeCredits,
  adjustment: changeCredits,
  threshold: changeThreshold,
  overdraft: changeOverdraft,
  limit: changeLimit,
  spending: changeSpending,
  rotation: rotate,
  'open calls': countOpenCalls,
  fault: injectFault,
  async 'first target'({ world, summary }, { mood, afterMs }) {
    await sleep(afterMs);
    world.upstream.firstIs(mood);
    summary.fault(`first target ${mood}`);
  },
  'loss without fault': loseWithoutFault,
  sweep: sweepNow,
  'overtaken rebuild': overtakeRebuild,
  'concurrent alert worker': concurrentAlertWorker,
};

/** Changes a key and then calls with it at every gateway, where the change must already be in force. */
async function changeAndCall(history: History, plan: KeyChangePlan): Promise<void> {
  const key = await changeKey(history, plan);
  if (!key) return;
  const { model, world } = history;
  const call = { key: model.keys.indexOf(key), manner: 'plain', model: 'flat', leaving: undefined } as const;
  history.inBackground(
    Promise.all(world.slots.map(({ index }) => makeCall(history, { ...call, slot: index }))),
  );
}

async function changeCredits(history: History, plan: StepPlans['top-up']): Promise<void> {
  const made = newTopUp(history, pick(history.model.accounts, plan.account), plan.credits);
  history.inBackground(topUp(history, made, plan.slot, TRIES));
}

/** A step of a history, which fast-check draws, replays and prints. */
export class Step implements fc.AsyncCommand<Model, History> {
  readonly #name: string;
  readonly #plan: unknown;
  readonly #run: (history: History) => Promise<void>;

  private constructor(name: string, plan: unknown, run: (history: History) => Promise<void>) {
    this.#name = name;
    this.#plan = plan;
    this.#run = run;
  }

  static of<Kind extends keyof StepPlans>(kind: Kind, plan: StepPlans[Kind]): Step {
    return new Step(kind, plan, (history) => RUNS[kind](history, plan));
  }

  /** Always true: drawn indexes are taken modulo the number of elements, so every step is possible in every state. */
  check(): boolean {
    return true;
  }

  run(_model: Model, history: History): Promise<void> {
    return this.#run(history);
  }

  toString(): string {
    return `${this.#name} ${JSON.stringify(this.#plan)}`;
  }
}
