"use strict";
/* Draws the page's pictures by Chart.js from its data, and hands its rows out as files. */
const page = JSON.parse(document.getElementById("data").textContent);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const short = v => String(+v.toPrecision(3));
const formats = {
	x: v => (v >= 100 ? Math.round(v) : short(v)) + "x",
	percent: v => short(100 * v) + " %",
	seconds: v => v >= 1 ? short(v) + " s" : v >= 1e-3 ? short(v * 1e3) + " ms" : v >= 1e-6 ? short(v * 1e6) + " µs" : short(v * 1e9) + " ns",
	time: (v, span) => new Date(1000 * v).toISOString().slice(...span > 864000 ? [0, 10] : span > 86400 ? [5, 16] : span > 600 ? [11, 16] : [11, 19])
		.replace("T", " "),
};

const fade = (colour, share) => colour + Math.round(255 * share).toString(16).padStart(2, "0");

function scale(a) {
	const format = formats[a.format] || short;
	return {
		type: a.type || "linear", min: a.min, max: a.max, stacked: a.stacked, offset: a.type === "category",
		title: { display: Boolean(a.title), text: a.title, color: style("--soft") },
		grid: { color: style("--line"), display: a.type !== "category" },
		ticks: {
			color: style("--soft"), maxRotation: 0, precision: a.whole ? 0 : undefined, autoSkip: !a.all, autoSkipPadding: 12, maxTicksLimit: a.type === "logarithmic" ? 40 : a.format === "time" ? 5 : 9,
			callback(v, i, all) {
				if (a.type === "category") {
					const label = String(this.getLabelForValue(v)), most = this.chart.width < 500 ? 18 : 42;
					return label.length <= most ? label : label.slice(0, most / 2) + "…" + label.slice(1 - most / 2);
				}
				/* within a second, several places have one label */
				const name = v => format(v, this.max - this.min);
				if (a.format === "time" && i > 0 && name(all[i - 1].value) === name(v))
					return null;
				/* of a long logarithmic axis the powers of ten alone */
				const digit = Math.round(100 * v / 10 ** Math.floor(Math.log10(v) + 1e-9)) / 100;
				return a.type !== "logarithmic" || digit === 1 || this.max / this.min < 300 && (digit === 2 || digit === 5) ? name(v) : null;
			},
		},
	};
}

function series(d) {
	const colour = d.soft ? style("--soft") : style("--c" + d.colour % 8);
	const common = { label: d.label, data: d.data, borderColor: colour, backgroundColor: colour, order: d.order || 0 };
	if (d.kind === "bars")
		return { ...common, type: "bar", categoryPercentage: 1, barPercentage: d.thin ? 0.3 : 0.95, backgroundColor: fade(colour, d.thin ? 0.5 : 0.9), minBarLength: d.thin ? 2 : 0,
			grouped: !d.thin };
	if (d.kind === "points")
		return { ...common, type: "scatter", showLine: false, clip: 8, pointRadius: d.small ? 2.5 : 4.5, pointHoverRadius: 6,
			pointBackgroundColor: d.data.map(p => p.hollow ? style("--paper") : d.small ? fade(colour, 0.5) : colour),
			pointBorderWidth: d.small ? 0 : 2 };
	return { ...common, type: "line", pointRadius: 0, pointHitRadius: 6, borderWidth: 2, stepped: d.stepped, borderDash: d.dashed ? [4, 3] : [] };
}

function draw(c) {
	Chart.getChart(c.id)?.destroy();
	new Chart(c.id, {
		data: { labels: c.labels, datasets: c.series.map(series) },
		/* a picture that is saved has the page's colour behind it */
		plugins: [{
			id: "backdrop",
			beforeDraw(chart) {
				chart.ctx.fillStyle = style("--paper");
				chart.ctx.fillRect(0, 0, chart.width, chart.height);
			},
		}],
		options: {
			indexAxis: c.sideways ? "y" : "x", animation: false, maintainAspectRatio: false,
			scales: { x: scale(c.x), y: scale(c.y) },
			plugins: {
				legend: { display: c.series.filter(d => d.label).length > 1, position: "bottom",
					labels: { color: style("--ink"), boxWidth: 12, filter: item => Boolean(item.text) } },
				tooltip: { callbacks: { title: () => "", label: item => item.raw.tip } },
			},
			onClick(event, hits) {
				const hit = hits.length && c.series[hits[0].datasetIndex].data[hits[0].index];
				if (hit && page.codes[hit.candidate])
					location.hash = "candidate-" + hit.candidate;
			},
		},
	});
}

function make(tag, text, ...children) {
	const made = document.createElement(tag);
	made.textContent = text;
	made.append(...children);
	return made;
}

function link(id, shown) {
	if (!page.codes[id])
		return shown;
	return Object.assign(make("a", shown), { href: "#candidate-" + id });
}

/* a speedup as the tables show it */
const factor = v => v === null || v === undefined ? "" : (v >= 100 ? Math.round(v) : v.toFixed(2)) + "x";

/* the pieces of a code, by kind where the page has the kinds */
function coloured(c) {
	let at = 0;
	const pieces = (c.colours || "").split(" ").filter(Boolean).map(piece =>
		Object.assign(make("span", c.code.slice(at, at += +piece.slice(1))), { className: "token-" + piece[0] }));
	return [...pieces, c.code.slice(at)];
}

/* the lines that a code changed in another, two around each change */
function changed(c) {
	const a = page.codes[c.changes.of].code.split("\n"), b = c.code.split("\n");
	const lines = (tag, sign, all) => all.map(line => make(tag, sign + " " + line + "\n"));
	return c.changes.groups.flatMap((group, k) => [...k ? ["…\n"] : [], ...group.flatMap(([kind, i, i_end, j, j_end]) => kind === "equal"
		? lines("span", " ", b.slice(j, j_end)) : [...lines("del", "-", a.slice(i, i_end)), ...lines("ins", "+", b.slice(j, j_end))])]);
}

/* the tree of the codes that led to one, the best first; each code once */
function ancestors(c, known) {
	const fresh = (c.exemplars || []).map((id, k) => [id, (c.scores || [])[k]]).reverse().filter(([id]) => !known.has(id));
	fresh.forEach(([id]) => known.add(id));
	const list = make("ul", "", ...fresh.map(([id, score]) =>
		make("li", "", link(id, `${id} (${factor(score)})`), ...page.codes[id] ? [ancestors(page.codes[id], known)] : [])));
	return fresh.length ? list : "";
}

/* the code that the address names, with what led to it */
function open_code() {
	const panel = document.getElementById("panel"), code = document.getElementById("code");
	const id = (location.hash.match(/^#candidate-(\d+)$/) || [])[1], c = page.codes[id];
	if (!id)
		return panel.close();
	if (!c) {
		code.replaceChildren(make("h2", `Candidate ${id}`), make("p", `This page does not have its code: cudal1 show ${id} prints it.`));
		return panel.open || panel.showModal();
	}
	const verdict = c.state === "successful" ? factor(c.reward) + (c.wide ? ", an end of a wide interval" : "") : c.failure || c.state;
	code.replaceChildren(make("h2", `Candidate ${c.candidate_id}: ${verdict}`), make("p", c.task + (c.method ? ", by " + c.method : "")));
	if (c.detail)
		code.append(make("p", c.detail));
	code.append(make("pre", "", ...coloured(c)));
	if (c.counters)
		code.append(make("p", `A call, as ${c.tool} counts:`), make("table", "", ...c.counters.map(k => make("tr", "", make("td", k.name),
			make("td", `${+(k.unit === "s" ? 1e6 * k.value : k.value).toPrecision(3)} ${k.unit === "s" ? "µs" : k.unit}`)))));
	if (c.prompt !== null)
		code.append(make("p", (c.exemplars || []).length ? `Prompt ${c.prompt} showed these codes; below each are those that its own prompt showed:`
			: `Prompt ${c.prompt} showed no code.`), ancestors(c, new Set([c.candidate_id])));
	if (c.changes)
		code.append(make("p", "Against ", link(c.changes.of, "candidate " + c.changes.of), ", the best that the prompt showed:"),
			make("pre", "", ...changed(c)));
	if (page.prompts[c.prompt])
		code.append(make("details", "", make("summary", "the prompt"), make("pre", page.prompts[c.prompt])));
	if (!panel.open)
		panel.showModal();
	panel.scrollTop = 0;
}

function csv(rows) {
	const keys = [...new Set(rows.flatMap(Object.keys))];
	const cell = v => {
		const text = v === null || v === undefined ? "" : typeof v === "object" ? JSON.stringify(v) : String(v);
		return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
	};
	return [keys, ...rows.map(r => keys.map(k => r[k]))].map(r => r.map(cell).join(",") + "\r\n").join("");
}

function save(download, href) {
	Object.assign(document.createElement("a"), { download, href }).click();
}

addEventListener("click", e => {
	const { rows, as, picture } = e.target.dataset;
	if (rows) {
		const text = as === "csv" ? csv(page.rows[rows]) : JSON.stringify(page.rows[rows], null, "\t");
		save(rows + "." + as, URL.createObjectURL(new Blob([text], { type: as === "csv" ? "text/csv" : "application/json" })));
	} else if (picture)
		save(picture + ".png", Chart.getChart(picture).toBase64Image());
	else if (e.target.tagName === "TH")
		sort(e.target);
});
document.getElementById("panel").addEventListener("close", () => {
	if (location.hash)
		history.replaceState(null, "", location.pathname + location.search);
});
/* a table by the column that is clicked, numbers the largest first, and the other way at the next click; rows of all stay last */
function sort(head) {
	const body = head.closest("table").tBodies[0], place = head.cellIndex, key = row => {
		const text = row.cells[place].textContent.trim(), [value] = text.replaceAll(",", "").match(/^[+-]?[\d.]+/) || [];
		return value === undefined ? text.toLowerCase() : +value;
	};
	const before = head.getAttribute("aria-sort"), down = before ? before === "ascending" : !head.classList.contains("name");
	const compare = (x, y) => typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true });
	/* what is no number, as "-", comes after numbers */
	const rank = row => row.className === "all" ? 2 : down && typeof key(row) === "string" && !head.classList.contains("name") ? 1 : 0;
	body.append(...[...body.rows].sort((x, y) => rank(x) - rank(y) || (down ? -1 : 1) * compare(key(x), key(y))));
	for (const other of head.parentNode.cells)
		other.removeAttribute("aria-sort");
	head.setAttribute("aria-sort", down ? "descending" : "ascending");
}
addEventListener("keydown", e => e.key === "Enter" && e.target.tagName === "TH" && sort(e.target));
addEventListener("hashchange", open_code);
const all = () => page.charts.forEach(draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
all();
open_code();
