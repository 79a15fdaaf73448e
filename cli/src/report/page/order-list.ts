/** Filters the list of orders by outcome, and copies the trace ids that are shown. */
export function wireOrderList(): void {
  const list = document.getElementById('orders');
  if (list === null) return;
  const rows = [...list.querySelectorAll<HTMLTableRowElement>('tbody tr')];
  const filter = list.querySelector<HTMLSelectElement>('select');
  const status = list.querySelector<HTMLElement>('[role="status"]');
  filter?.addEventListener('change', () => {
    for (const row of rows) row.hidden = filter.value !== '' && row.dataset.outcome !== filter.value;
    say(status, `${rows.filter((row) => !row.hidden).length} orders shown`);
  });
  list.querySelector('button')?.addEventListener('click', async () => {
    const ids = traceIdsOf(rows.filter((row) => !row.hidden));
    say(status, (await copy(ids.join('\n'))) ? `${ids.length} trace ids copied` : REFUSED);
  });
}

const REFUSED = 'The browser does not let this page copy: select the ids in the table instead.';

function traceIdsOf(rows: readonly HTMLElement[]): string[] {
  return rows.flatMap((row) => row.querySelector('[data-trace]')?.textContent ?? []);
}

/** Resolves with false where the browser refuses, as some do for files. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

function say(status: HTMLElement | null, text: string): void {
  if (status !== null) status.textContent = text;
}
