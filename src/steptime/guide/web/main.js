// The page's life: an address is a view, a view is asked of the source, its answer is drawn. New records are noticed.

import { announce, byId, h, replace } from "./dom.js";
import { sidePanel } from "./filters.js";
import { KINDS } from "./kinds.js";
import { closeDrawer, closeMenu, hideTip } from "./overlay.js";
import { drawShell, liveSign } from "./shell.js";
import { DEFAULT, parseView } from "./state.js";
import { loadTheme, onTheme } from "./theme.js";

const LOOK_MS = 3000;

/** @type {(source: Source) => App} */
export function start(source) {
  loadTheme();
  /** @type {App} */
  const app = {
    source,
    view: DEFAULT,
    meta: /** @type {any} */ (null),
    picked: [],
    lost: false,
    go: (changes) => travel(app, { ...app.view, ...changes }),
    follow(event, view) {
      if (event.metaKey || event.ctrlKey || event.shiftKey || event.button) return; // a new tab is the browser's business
      event.preventDefault();
      travel(app, view);
    },
    pick(id) {
      app.picked = app.picked.includes(id) ? app.picked.filter((p) => p !== id) : [...app.picked, id];
      keepFocus(() => drawShell(app));
    },
    showFilters: () => app.side.show(),
    keepFocus,
    side: /** @type {any} */ (null),
  };
  app.side = sidePanel(app);
  readAddress(app);
  addEventListener("popstate", () => {
    readAddress(app);
    closeDrawer();
    closeMenu();
    render(app);
  });
  onTheme(() => {
    keepFocus(() => drawShell(app));
    app.page?.redraw();
  });
  let width = innerWidth;
  let timer = 0;
  addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (innerWidth !== width) {
        width = innerWidth;
        app.page?.redraw();
      }
    }, 150);
  });
  render(app);
  if (source.live) keepLooking(app);
  return app;
}

/** @type {(app: App) => void} */
function readAddress(app) {
  try {
    Object.assign(app, { view: parseView(app.source.read()), badAddress: undefined });
  } catch (error) {
    Object.assign(app, { view: DEFAULT, badAddress: error });
  }
}

/** @type {(app: App, view: View) => Promise<void>} */
function travel(app, view) {
  const before = app.badAddress ? "" : app.source.address(app.view);
  const kind = app.view.kind;
  Object.assign(app, { view, badAddress: undefined });
  if (app.source.address(view) !== before) history.pushState(null, "", app.source.address(view));
  if (kind !== view.kind) {
    closeMenu();
    scrollTo(0, 0);
  }
  closeDrawer();
  return render(app);
}

let turn = 0;

/** @type {(app: App, quietly?: boolean) => Promise<void>} */
async function render(app, quietly = false) {
  const mine = ++turn;
  const { view, source } = app;
  const kind = kindShown(app);
  hideTip();
  document.body.removeAttribute("data-ready");
  try {
    const answered = settled(app.badAddress ? Promise.reject(app.badAddress) : asked(app, kind)); // before anything is waited for
    const facets = settled(kind.facets === false ? null : source.facets(view));
    app.meta ??= await source.meta();
    if (mine !== turn) return;
    const page = place(app);
    keepFocus(() => {
      drawShell(app);
      if (!quietly) page.ready(view);
    });
    facets.then(({ value }) => mine === turn && value && app.side.update(view, value));
    const { value, error } = await answered;
    if (mine !== turn) return;
    if (error) throw error;
    let drawing;
    keepFocus(() => {
      drawing = page.show(value);
    });
    await Promise.all([drawing, facets]);
    document.title = `${value.title} · steptime`;
    if (!quietly) announce(value.title);
  } catch (error) {
    if (mine !== turn) return;
    if (!app.page) replace(byId("app"), h("p", { class: "starting", role: "alert" }, /** @type {Error} */ (error).message));
    else app.page.fail(error);
  }
  document.body.dataset.ready = String(mine);
}

/** @type {(app: App, kind: ViewKind<any>) => any} */
const asked = (app, kind) => (kind.fetch ? kind.fetch(app, app.view) : app.source.answer(app.view));

/** @type {(promise: any) => Promise<{ value?: any, error?: any }>} */
const settled = (promise) =>
  Promise.resolve(promise).then(
    (value) => ({ value }),
    (error) => ({ error }),
  );

/** @type {Record<string, ViewKind<any>>} */
const PAGES = KINDS;
/** @type {(app: App) => ViewKind<any>} */
const kindShown = (app) => PAGES[app.view.kind] ?? PAGES[DEFAULT.kind];

// The page for a kind of view is kept while the kind stays, so that nothing flickers.
/** @type {(app: App) => Page} */
function place(app) {
  const make = kindShown(app).page;
  const page = app.page && app.pageMaker === make ? app.page : make(app);
  const withSide = page.side;
  if (app.page === page && app.placed === withSide) return page;
  Object.assign(app, { page, pageMaker: make, placed: withSide });
  const main = h("main", { id: "main" }, page.main);
  replace(byId("app"), h("div", { class: `page${withSide ? " with-side" : ""}` }, withSide && app.side.element, main));
  return page;
}

// Rebuilding a list must not throw a keyboard user out of it.
/** @type {(change: () => void) => void} */
function keepFocus(change) {
  const key = focusKey();
  change();
  if (!key || focusKey() === key) return;
  keyed()
    .find((e) => e.dataset.key === key)
    ?.focus({ preventScroll: true });
}

/** @type {() => HTMLElement[]} */
const keyed = () => Array.from(document.querySelectorAll("[data-key]"));
const focusKey = () => keyed().find((e) => e === document.activeElement)?.dataset.key;

// Records that arrive while the page is open appear by themselves.
/** @type {(app: App) => Promise<void>} */
async function keepLooking(app) {
  /** @type {string | null} */
  let known = null;
  for (;;) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
    if (document.hidden) continue;
    const now = await settled(app.source.version?.());
    const lost = Boolean(now.error);
    const changed = !lost && now.value.version !== (known ?? app.meta?.version ?? now.value.version);
    if (!lost) known = now.value.version;
    if (changed || (app.lost && !lost)) {
      app.meta = (await settled(app.source.meta())).value ?? app.meta;
      app.fresh = changed;
      app.lost = lost;
      await render(app, true);
      app.fresh = false;
    } else if (lost !== app.lost) {
      app.lost = lost;
      document.getElementById("live")?.replaceWith(liveSign(app));
    }
  }
}
