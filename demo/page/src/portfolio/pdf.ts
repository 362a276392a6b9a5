/** A line in a document: a heading, a term with its value, or plain text. */
export type PdfLine = { heading: string } | { term: string; value: string } | { text: string };

const PAGE = { width: 595, height: 842, margin: 56 };
const LINE_HEIGHT = 20;
const LINES_PER_PAGE = Math.floor((PAGE.height - 2 * PAGE.margin) / LINE_HEIGHT);
const VALUE_X = 210;
const MAX_VALUE_LENGTH = 66;

/** Creates a plain-text PDF (ISO 32000) in Helvetica, on as many A4 pages as the text needs. */
export function createPdf(title: string, lines: readonly PdfLine[]): string {
  const wrapped = lines.flatMap(wrap);
  const pages: PdfLine[][] = [];
  for (let at = 0; at < Math.max(1, wrapped.length); at += LINES_PER_PAGE)
    pages.push(wrapped.slice(at, at + LINES_PER_PAGE));
  const firstPage = 5;
  const kids = pages.map((_, index) => `${firstPage + 2 * index} 0 R`);
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages.length} >>`,
    font('Helvetica'),
    font('Helvetica-Bold'),
    ...pages.flatMap((page, index) => {
      const content = page.map(draw).join('\n');
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${PAGE.width} ${PAGE.height}] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents ${firstPage + 2 * index + 1} 0 R >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
    `<< /Title ${literal(title)} >>`,
  ];
  let body = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = body.length;
    body += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  return `${body}xref\n0 ${size}\n0000000000 65535 f \n${entries}trailer\n<< /Size ${size} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${body.length}\n%%EOF\n`;
}

const font = (name: string) =>
  `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;

/** Splits a long value, such as a transaction hash, into several lines. */
function wrap(line: PdfLine): PdfLine[] {
  if (!('term' in line) || line.value.length <= MAX_VALUE_LENGTH) return [line];
  const parts = line.value.match(new RegExp(`.{1,${MAX_VALUE_LENGTH}}`, 'g')) ?? [];
  return parts.map((value, index) => ({ term: index === 0 ? line.term : '', value }));
}

function draw(line: PdfLine, index: number): string {
  const y = PAGE.height - PAGE.margin - index * LINE_HEIGHT;
  const show = (x: number, fontName: string, size: number, text: string) =>
    `BT /${fontName} ${size} Tf ${x} ${y} Td ${literal(text)} Tj ET`;
  if ('heading' in line) return show(PAGE.margin, 'F2', 15, line.heading);
  if ('text' in line) return show(PAGE.margin, 'F1', 9, line.text);
  return `${show(PAGE.margin, 'F1', 10, line.term)}\n${show(VALUE_X, 'F1', 10, line.value)}`;
}

/** Writes a string literal. Replaces characters that the built-in fonts lack (all characters outside Latin-1). */
function literal(text: string): string {
  const latin = [...text]
    .map((char) => (char.charCodeAt(0) < 256 && char.length === 1 ? char : '?'))
    .join('');
  return `(${latin.replace(/[\\()]/g, (char) => `\\${char}`).replace(/[\r\n]/g, ' ')})`;
}

/** Returns the bytes of a document from `createPdf`, one byte per character. */
export function pdfBytes(document: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(document, (char) => char.charCodeAt(0));
}
