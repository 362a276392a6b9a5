import { startDocumentReconciler } from '../domain/documents/reconcile.ts';
import { startIdentityReconciler } from '../domain/identity/reconcile.ts';
import { startNoticeWorker } from '../domain/notices/worker.ts';
import { startContractWatch } from '../domain/offer-files/contract-watch.ts';
import { startOfferReports } from '../domain/offers/reported-state.ts';
import { startReminders } from '../domain/requirements/reminders.ts';
import { startStatusReports } from '../domain/requirements/report.ts';
import { startScreening } from '../domain/screening/rescreen.ts';
import { startSettlement } from '../domain/settlement/settlement.ts';
import { startPriceRecorder } from '../domain/tokenized/price-recorder.ts';
import { startRestrictedOrderAlerts } from '../domain/tokenized/restricted-orders.ts';
import { startOrderWatch } from '../domain/tokenized/watch.ts';
import { startAllowedCheck } from '../domain/wallets/allowed-check.ts';
import { startAllowListWatch } from '../domain/wallets/verification.ts';
import { startWebhookWorker } from '../domain/webhooks/worker.ts';
import type { Started } from '../kernel/shutdown.ts';
import { startAuditSealer } from '../platform/audit/sealer.ts';
import type { Context } from '../platform/context/context.ts';
import { startSequencer } from '../platform/events/sequencer.ts';
import { startMailWorker } from '../platform/mail/outbox.ts';
import { smtpMailer } from '../platform/mail/smtp.ts';
import { startHousekeeping } from './housekeeping.ts';

type Stop = () => Promise<void>;
type Running = Stop | { stop: Stop };

/** Starts a worker and returns how to stop it. */
type StartWorker = (ctx: Context) => Running | Promise<Running>;

/** Every worker of a node, in the order in which they start. */
const WORKERS: readonly StartWorker[] = [
  startMailer,
  startNoticeWorker,
  startReminders,
  startIdentityReconciler,
  startDocumentReconciler,
  startSequencer,
  startStatusReports,
  startAuditSealer,
  startOfferReports,
  startWebhookWorker,
  startHousekeeping,
  startAllowListWatch,
  startAllowedCheck,
  startScreening,
  startSettlement,
  startContractWatch,
  startOrderWatch,
  startRestrictedOrderAlerts,
  startPriceRecorder,
];

function startMailer(ctx: Context): Promise<Running> {
  const { smtpUrl, mailFrom, smtpTls } = ctx.config;
  return startMailWorker(ctx, smtpMailer(smtpUrl ?? '', mailFrom, smtpTls));
}

/** Starts all workers. Adds what stops each of them to `running`, also if a later worker fails to start. */
export async function startWorkers(ctx: Context, running: Started): Promise<void> {
  for (const start of WORKERS) {
    const worker = await start(ctx);
    running.push(typeof worker === 'function' ? worker : worker.stop);
  }
}
