import type { Writable } from 'node:stream';
import { formatUnits } from 'viem/utils';
import type { ReportRow } from './report-store.ts';

export function toLine(row: ReportRow): string {
  const amount = `${formatUnits(BigInt(row.amount), row.asset_digits)} ${row.asset_code}`;
  return [row.id, row.inserted_at, row.status.padEnd(15), amount.padStart(18), row.offer, row.chain].join(
    '  ',
  );
}

const COLUMNS = [
  'id',
  'inserted_at',
  'updated_at',
  'status',
  'reason',
  'partner',
  'user_id',
  'offer',
  'option',
  'amount',
  'asset_code',
  'chain',
  'wallet_address',
  'approval_hash',
  'commit_hash',
  'remit_hash',
] as const satisfies (keyof ReportRow)[];

export const CSV_HEADER = `${COLUMNS.join(',')}\r\n`;

/** Returns a row as CSV (RFC 4180). The amount is in tokens, such as 1000.5, not in the token's smallest unit. */
export function toCsv(row: ReportRow): string {
  const shown = { ...row, amount: formatUnits(BigInt(row.amount), row.asset_digits) };
  return `${COLUMNS.map((column) => field(shown[column])).join(',')}\r\n`;
}

function field(value: string | null): string {
  if (value === null) return '';
  // Puts an apostrophe before a value that looks like a formula, because spreadsheets would execute the formula.
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const BAR_WIDTH = 30;

export function showProgress(total: number, stream: Writable & { isTTY?: boolean }) {
  const isShown = stream.isTTY === true && total > 1_000;
  return {
    at: (done: number) => {
      if (!isShown) return;
      const share = Math.min(1, done / total);
      const bar = '█'.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '░');
      stream.write(`\r${bar} ${Math.floor(share * 100)}% (${done} of ${total})`);
    },
    end: () => void (isShown && stream.write('\n')),
  };
}
