import { CHAINS } from '@causeway/sdk';
import { TYPE_LABELS } from '../screens/offer-types.ts';
import { download } from './download.ts';
import { type Entry, quantityLabel, showAmount } from './history.ts';
import type { Holding } from './load.ts';
import { createPdf, type PdfLine, pdfBytes } from './pdf.ts';
import { showUsd } from './usd.ts';

const ISSUER = { text: 'Harbour Invest. A demo built on Causeway; nothing here is an offer of securities.' };

/** Downloads a receipt for one investment. */
export function downloadReceipt(entry: Entry): void {
  const { offer, at, chain, status, paid, fee, received, transactions } = entry;
  const lines: PdfLine[] = [
    { heading: 'Receipt' },
    { text: '' },
    { term: 'Investment', value: offer.name },
    { term: 'Type', value: TYPE_LABELS[offer.type].singular },
    { term: 'Date', value: new Date(at).toUTCString() },
    { term: 'Status', value: status },
    { term: 'Network', value: CHAINS[chain].name },
    { term: 'Paid', value: showAmount(paid) },
    { term: 'Fee included', value: showAmount(fee) },
    ...(received === null ? [] : [{ term: quantityLabel(received), value: showAmount(received) }]),
    ...transactions.map(({ name, hash }) => ({ term: `${name} transaction`, value: hash })),
    { text: '' },
    ISSUER,
  ];
  save('receipt', lines);
}

/** Downloads a statement with all holdings and the history. */
export function downloadStatement(holdings: readonly Holding[], history: readonly Entry[]): void {
  const lines: PdfLine[] = [
    { heading: 'Statement' },
    { term: 'Created', value: new Date().toUTCString() },
    { text: '' },
    { heading: 'Holdings' },
    ...holdings.map(({ offer, chain, quantity, value }) => ({
      term: offer.name,
      value: `${quantity.isEstimate ? 'about ' : ''}${showAmount(quantity)}, ${value === null ? 'no price' : showUsd(value)}, ${CHAINS[chain].name}`,
    })),
    { text: '' },
    { heading: 'History' },
    ...history.map(({ at, offer, status, paid }) => ({
      term: at.slice(0, 16).replace('T', ' '),
      value: `${offer.name}: ${showAmount(paid)}, ${status}`,
    })),
    { text: '' },
    ISSUER,
  ];
  save('statement', lines);
}

function save(name: string, lines: readonly PdfLine[]): void {
  download(`harbour-${name}.pdf`, 'application/pdf', pdfBytes(createPdf(`Harbour Invest ${name}`, lines)));
}
