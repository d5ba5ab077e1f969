"use strict";
/* Draws the page's pictures by Chart.js from its data, and hands its rows out as files. */
const page = JSON.parse(document.getElementById("data").textContent);
const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const short = v => String(+v.toPrecision(3));
const formats = {
	plain: short,
	x: v => (v >= 100 ? Math.round(v) : short(v)) + "x",
	percent: v => short(100 * v) + " %",
	seconds: v => v >= 1 ? short(v) + " s" : v >= 1e-3 ? short(v * 1e3) + " ms" : v >= 1e-6 ? short(v * 1e6) + " µs" : short(v * 1e9) + " ns",
	time: (v, span) => new Date(1000 * v).toISOString().slice(...span > 864000 ? [0, 10] : span > 86400 ? [5, 16] : span > 600 ? [11, 16] : [11, 19])
		.replace("T", " "),
};

/* a fade between two colours of the page */
const fade = (colour, share) => colour + Math.round(255 * share).toString(16).padStart(2, "0");

function scale(a) {
	const format = formats[a.format || "plain"];
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

/* a drag over a picture shows that part of its x axis, a double click all of it */
const zoom = {
	id: "zoom",
	beforeDraw(chart) {
		chart.ctx.save();
		chart.ctx.fillStyle = style("--paper");
		chart.ctx.fillRect(0, 0, chart.width, chart.height);
		chart.ctx.restore();
	},
	afterInit(chart) {
		const place = e => e.clientX - chart.canvas.getBoundingClientRect().left;
		chart.canvas.addEventListener("pointerdown", e => {
			if (e.pointerType === "mouse")
				chart.dragged = [place(e), place(e)];
		});
		chart.canvas.addEventListener("pointermove", e => {
			if (chart.dragged) {
				chart.dragged[1] = place(e);
				chart.draw();
			}
		});
		addEventListener("pointerup", () => {
			if (!chart.dragged)
				return;
			const [a, b] = [...chart.dragged].sort((x, y) => x - y).map(v => chart.scales.x.getValueForPixel(v));
			const far = Math.abs(chart.dragged[0] - chart.dragged[1]) > 5;
			chart.dragged = null;
			if (far)
				Object.assign(chart.options.scales.x, { min: a, max: b });
			chart.update("none");
		});
		chart.canvas.addEventListener("dblclick", () => {
			Object.assign(chart.options.scales.x, { min: chart.whole.min, max: chart.whole.max });
			chart.update("none");
		});
	},
	afterDraw(chart) {
		if (!chart.dragged)
			return;
		const [a, b] = chart.dragged, area = chart.chartArea;
		chart.ctx.save();
		chart.ctx.fillStyle = fade(style("--c0"), 0.2);
		chart.ctx.fillRect(a, area.top, b - a, area.bottom - area.top);
		chart.ctx.restore();
	},
};

function draw(c) {
	const old = Chart.getChart(c.id);
	if (old)
		old.destroy();
	const chart = new Chart(c.id, {
		data: { labels: c.labels, datasets: c.series.map(series) },
		plugins: [zoom],
		options: {
			indexAxis: c.sideways ? "y" : "x", animation: false, maintainAspectRatio: false, responsive: true,
			scales: { x: scale(c.x), y: { ...scale(c.y), reverse: Boolean(c.y.reverse) } },
			interaction: { mode: "nearest", intersect: true },
			plugins: {
				legend: { display: c.series.filter(d => d.label).length > 1, position: "bottom",
					labels: { color: style("--ink"), boxWidth: 12, filter: item => Boolean(item.text) } },
				tooltip: { callbacks: { title: () => "", label: item => item.raw.tip || item.dataset.label + ": " + item.formattedValue } },
			},
			onClick(event, hits) {
				const hit = hits.length && c.series[hits[0].datasetIndex].data[hits[0].index];
				if (hit && page.codes[hit.candidate])
					location.hash = "candidate-" + hit.candidate;
			},
		},
	});
	chart.whole = { min: c.x.min, max: c.x.max };
}

/* the lines of two texts: those of both, of the first alone (-) and of the second (+), two around each change */
function diff(from, to) {
	const a = from.split("\n"), b = to.split("\n"), wide = b.length + 1;
	if (a.length * b.length > 4e6)
		return [["", "too long to be compared here"]];
	/* the longest common rest from each pair of lines on */
	const rest = new Uint16Array((a.length + 1) * wide);
	for (let i = a.length - 1; i >= 0; i--)
		for (let j = b.length - 1; j >= 0; j--)
			rest[i * wide + j] = a[i] === b[j] ? rest[(i + 1) * wide + j + 1] + 1 : Math.max(rest[(i + 1) * wide + j], rest[i * wide + j + 1]);
	const all = [];
	for (let i = 0, j = 0; i < a.length || j < b.length;)
		if (i < a.length && j < b.length && a[i] === b[j])
			all.push([" ", a[i++], j++]);
		else if (i < a.length && (j === b.length || rest[(i + 1) * wide + j] >= rest[i * wide + j + 1]))
			all.push(["-", a[i++]]);
		else
			all.push(["+", b[j++]]);
	const near = all.map((_, k) => all.slice(Math.max(0, k - 2), k + 3).some(line => line[0] !== " "));
	return all.flatMap((line, k) => near[k] ? [line] : near[k - 1] ? [["", "…"]] : []);
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
	const a = make("a", shown);
	a.href = "#candidate-" + id;
	return a;
}

/* the code that the address names, with what led to it */
function open_code() {
	const panel = document.getElementById("panel"), code = document.getElementById("code");
	const c = page.codes[(location.hash.match(/^#candidate-(\d+)$/) || [])[1]];
	if (!c)
		return panel.close();
	const factor = v => v === null || v === undefined ? "" : short(v) + "x";
	const verdict = c.state === "successful" ? factor(c.reward) + (c.wide ? ", an end of a wide interval" : "") : c.failure || c.state;
	code.replaceChildren(make("h2", `Candidate ${c.candidate_id}: ${verdict}`), make("p", c.task + (c.method ? ", by " + c.method : "")));
	if (c.detail)
		code.append(make("p", c.detail));
	code.append(make("pre", c.code));
	const shown = c.exemplars || [];
	/* exemplars are in ascending score */
	const parent = page.codes[shown[shown.length - 1]];
	if (c.prompt !== null)
		code.append(make("p", `Prompt ${c.prompt} showed ` + (shown.length ? "candidates " : "no exemplar."),
			...shown.flatMap((id, k) => [k ? ", " : "", link(id, `${id} (${factor((c.scores || [])[k])})`)])));
	if (parent) {
		const lines = diff(parent.code, c.code).map(([kind, line]) => make(kind === "+" ? "ins" : kind === "-" ? "del" : "span", kind + " " + line + "\n"));
		code.append(make("p", "Against ", link(parent.candidate_id, "candidate " + parent.candidate_id), ", the best that the prompt showed:"),
			make("pre", "", ...lines));
	}
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

function save(name, address) {
	const a = document.createElement("a");
	a.download = name;
	a.href = address;
	a.click();
}

addEventListener("click", e => {
	const { rows, as, picture } = e.target.dataset;
	if (rows) {
		const text = as === "csv" ? csv(page.rows[rows]) : JSON.stringify(page.rows[rows], null, "\t");
		save(rows + "." + as, URL.createObjectURL(new Blob([text], { type: as === "csv" ? "text/csv" : "application/json" })));
	} else if (picture)
		save(picture + ".png", Chart.getChart(picture).toBase64Image());
});
document.getElementById("close").addEventListener("click", () => document.getElementById("panel").close());
document.getElementById("panel").addEventListener("close", () => {
	if (location.hash)
		history.replaceState(null, "", location.pathname + location.search);
});
addEventListener("hashchange", open_code);
const all = () => page.charts.forEach(draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
all();
if (location.hash)
	open_code();
