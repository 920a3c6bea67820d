// Types of what the scripts pass to each other. Those of answers are made from Python (tests/guide/web/declarations.py).

type Filters = [string, string[]][];

/** A run: a value for each column of the index, null where it is not known; `config` numbers its configuration. */
type Row = Record<string, any>;

/** A column of a report: its values, or each value once (d) and a code for each run (c). */
type CodedColumn = any[] | { d: any[]; c: number[] };

/** A row of the rollup, with the runs it stands for. */
type RollupRow = Row & { contended: boolean; runs: Row[]; n: number };

interface Estimated {
  value: number | null;
  low: number | null;
  high: number | null;
}

type Ends = { low: number | null; high: number | null };

/** A measure of one configuration. */
interface Figure extends Estimated {
  count: number;
  spread: number | null;
}

/** Figures of configurations as one. */
interface Summary extends Estimated {
  value: number;
  runs: number;
  configurations: number;
  spread: number | null;
  mixes: Record<string, number>;
  configuration: Record<string, string>;
}

/** A point in the making; `figure` is null where nothing was measured. */
interface Gathered {
  facet: string;
  series: string;
  x: string;
  statuses: Record<string, number>;
  contended: number;
  figure: Summary | null;
}

/** What chooses the runs of a series, and which named series it belongs to. */
interface SeriesChoice {
  filters: Filters;
  place: number;
}

interface NamedFilters extends SeriesChoice {
  name: string;
}

/** Runs that differ only in how many devices they used, by their number. */
interface GatheredLine {
  alike: string;
  values: Record<string, string>;
  named: string;
  parts: Map<number, Map<string, Figure[]>>;
  statuses: Map<number, Record<string, number>>;
  shown: Set<number>;
  mixes: Map<number, Set<string>[]>;
}

interface ScalingCounts {
  total: number;
  contended: number;
  unknown: number;
}

interface GatheredLines {
  lines: GatheredLine[];
  contended: number;
  unknown: number;
}

/** One side of a comparison: measured runs with their figures, and all runs. */
interface ComparedGroup {
  name: string;
  named: Set<string>;
  rows: ComparedRun[];
  all: Row[];
  configurations: number;
}

interface ComparedRun extends Estimated {
  row: Row;
  value: number;
}

/** Of the logarithm of a figure; variance null where it is not known. */
interface LogEstimate {
  centre: number;
  variance: number | null;
  freedom: number;
}

/** A Vega-Lite specification, or a template of one. */
type Spec = Record<string, any>;

/** What a report carries. */
interface ReportData {
  title: string;
  written: string;
  columns?: Record<string, CodedColumn>;
  rows?: Row[];
  details?: RunDetail[];
}

interface RunDetail {
  record: any;
  command: string;
  charts: Record<string, any> | null;
  log: string;
}

interface RunAnswer extends RunDetail {
  row: Row;
  log_truncated: boolean;
  profile: any;
}

/** What there is to ask about. */
interface Meta {
  runs: number;
  version: string;
  measures: Measure[];
  dimensions: { name: string; label: string; kind: string; values: number }[];
  store?: string;
  written?: string;
}

/** The answer to a view of some kind, what it is called, and where the page draws it the chart but for its size and theme. */
interface Answered<A> {
  answer: A;
  title: string;
  subtitle: string;
  spec?: Spec;
}

/** guide/view/texts.py: {fields}, and another sentence where n is 1. */
interface TextTemplate {
  many: string;
  one: string;
}

/** A tab of the bar at the top, in the order of places; `target` changes the view that it leads to. */
interface Tab {
  label: string;
  place: number;
  target?: (app: App) => Partial<View>;
  count?: (app: App) => number;
}

/** What is shown of a view; kept while the kind of view stays the same. */
interface Page {
  main: HTMLElement;
  /** whether the filters are beside it */
  side: boolean;
  ready(view: View): void;
  show(answered: any): Promise<any>;
  fail(error: any): void;
  redraw(): any;
}

/** A kind of view: how the page shows it and, for reports, what guide/kinds/NAME.py does on the server. */
interface ViewKind<A> {
  /** its own tab, or the kind whose tab it belongs to */
  tab: Tab | string;
  page: (app: App) => Page;
  /** what the page asks for, if that is more than the answer */
  fetch?(app: App, view: View): Promise<any>;
  /** false: the view has no filters */
  facets?: boolean;
  answer(engine: Engine, view: View): A;
  title(answer: A): string;
  subtitle(answer: A): string;
  /** of kinds that have a chart */
  values?(answer: A): Row;
  size?(answer: A): Row;
  /** of the table that it can be saved as */
  rows(answer: A): Row[];
}

/** What Python says of a kind of view (guide/kinds/base.py). */
interface KindFacts {
  parameters: string[];
  fixed: Record<string, string>;
  suffixes: string[];
  columns: string[];
  page_draws: boolean;
}

/** What answers in a report, as the server does for the page. */
interface Engine {
  rows: Row[];
  meta(): Meta;
  alike(view: View): View;
  facets(view: View, names?: string[]): Facet[];
  answer(view: View): Answered<any>;
  chart(view: View): Spec;
  runs(view: View, limit: number, offset: number): RunList;
  run(id: string): RunAnswer;
  csv(view: View): string;
}

interface ChartOptions {
  height?: number;
  /** names of series, for the legend */
  series?: string[];
  /** what a screen reader is told */
  words?: string;
  tip?: (datum: any) => any;
  open?: (datum: any) => void;
  /** for the keyboard */
  points?: any[];
  say?: (point: any) => string;
}

declare var vegaEmbed: any;

/** Handlers (`onclick`), `vars` for CSS, all else as attributes; what is null, undefined or false is left out. */
interface Attributes {
  [name: string]: any;
  onclick?: (event: HappeningAt) => unknown;
  onchange?: (event: HappeningAt) => unknown;
  oninput?: (event: HappeningAt) => unknown;
  ontoggle?: (event: HappeningAt) => unknown;
  onkeydown?: (event: HappeningAt) => unknown;
}

type MakeElement<Tags> = <K extends string & keyof Tags>(name: K, attributes?: Attributes | null, ...children: any[]) => Tags[K];

/** An event at an element whose kind the handler knows. */
type HappeningAt = Omit<MouseEvent & KeyboardEvent, "target" | "currentTarget"> & { target: any; currentTarget: any };

/** Title, value to sort by, what is shown (else the value), class. */
type TableColumn<R> = [title: string, value: (row: R) => any, cell?: ((row: R) => any) | null, kind?: string];

type Refilter = (filters: Filters) => void;

interface OfferedValue {
  value: string;
  runs: number | null;
}

interface SidePanel {
  element: HTMLElement;
  show(): void;
  hide(): void;
  update(view: View, facets?: Facet[]): void;
}

/** Where answers come from: the server, or the engine of a report. */
interface Source {
  live: boolean;
  meta(): Promise<Meta>;
  /** of what is live */
  version?(): Promise<{ version: string }>;
  answer(view: View): Promise<Answered<any>>;
  alike(view: View): Promise<View>;
  facets(view: View): Promise<Facet[]>;
  runs(view: View, limit: number, offset: number): Promise<RunList>;
  address(view: View): string;
  link(view: View): string;
  read(): string;
  file(view: View, suffix: string): string;
  formats: string[];
  /** where there is no server to make the file */
  save?(event: HappeningAt, view: View, suffix: string): Promise<void>;
}

/** What the page is at, and how it goes elsewhere. */
interface App {
  source: Source;
  view: View;
  /** what is wrong with the address, where it is no view */
  badAddress?: Error;
  /** set before anything is drawn */
  meta: Meta;
  /** runs that were picked to be compared */
  picked: string[];
  /** whether the server does not answer */
  lost: boolean;
  /** whether records have just arrived */
  fresh?: boolean;
  side: SidePanel;
  page?: Page;
  /** what made the page, and whether it was put beside the filters */
  pageMaker?: (app: App) => Page;
  placed?: boolean;
  go(changes: Partial<View>): void;
  follow(event: HappeningAt, view: View): void;
  pick(id: string): void;
  showFilters(): void;
  keepFocus(change: () => void): void;
}
