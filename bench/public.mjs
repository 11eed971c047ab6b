// The public comparison: every contender in every measure, or a dash with its reason, in one run. One row of the results is one
// measure on one store at one concurrency: our figure, the best of the peers on that store, and everybody's figures beside it.
import { collect } from './measure.mjs';
import { CONTENDERS } from './public/contenders.mjs';
import { frozen } from './public/frozen.mjs';
import { fillAll, FULL_SETTINGS, growth } from './public/growth.mjs';
import { held } from './public/held.mjs';
import { openPlaces } from './public/places.mjs';
import { publicRows } from './public/rows.mjs';
import { takeover } from './public/takeover.mjs';
import { throughput } from './public/throughput.mjs';

export async function benchPublic(say) {
  const places = [];
  const open = async (settings) => {
    places.push(await openPlaces(settings));
    return places.at(-1);
  };
  try {
    const figures = [];
    const busy = await open();
    for (const measure of [throughput, takeover, frozen]) figures.push(...(await measure(say, busy)));
    const full = await open(FULL_SETTINGS);
    say('public: filling the large stores, while locks are held on the others: counts and bytes, no times');
    const [unfilled, counted] = await Promise.all([fillAll(say, full), held(say, busy)]);
    figures.push(...counted, ...(await growth(say, full, await open(FULL_SETTINGS), unfilled)));
    const { rows, add } = collect(say);
    add(publicRows(figures, CONTENDERS));
    return rows;
  } finally {
    await Promise.all(places.map((one) => one.remove()));
  }
}
